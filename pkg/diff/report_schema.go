package diff

// JSONSchema gives the JSON schema (draft 2020-12) of what WriteJSON writes. Within
// v1alpha1, fields may be added: readers must allow for some that they do not know.
func JSONSchema() []byte { return []byte(reportSchema) }

const reportSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "DiffReport",
  "description": "What differs between two sets of Kubernetes objects, who owns it and what it will do.",
  "type": "object",
  "required": ["apiVersion", "kind", "summary", "objects"],
  "properties": {
    "apiVersion": {"type": "string", "enum": ["diff.kudevops.io/v1alpha1"]},
    "kind": {"type": "string", "enum": ["DiffReport"]},
    "summary": {"$ref": "#/$defs/summary"},
    "objects": {
      "description": "Every object that is created, updated or deleted, or has adopted, kept, foreign or ignored fields.",
      "type": "array",
      "items": {"$ref": "#/$defs/object"}
    },
    "unmatchedIgnoreRules": {
      "description": "Ignore rules that matched no field of any object.",
      "type": "array",
      "items": {"$ref": "#/$defs/rule"}
    }
  },
  "$defs": {
    "summary": {
      "type": "object",
      "required": ["create", "update", "delete", "unchanged", "adopted", "kept", "foreign", "ignored"],
      "properties": {
        "create": {"description": "Objects to create.", "type": "integer", "minimum": 0},
        "update": {"description": "Objects to change.", "type": "integer", "minimum": 0},
        "delete": {"description": "Objects to delete.", "type": "integer", "minimum": 0},
        "unchanged": {"description": "Objects whose content is the same.", "type": "integer", "minimum": 0},
        "adopted": {"description": "Objects with fields that become ours and keep their value.", "type": "integer", "minimum": 0},
        "kept": {"description": "Objects with fields that are no longer desired and stay, because others own them too.", "type": "integer", "minimum": 0},
        "foreign": {"description": "Objects with fields that others own and that are not desired.", "type": "integer", "minimum": 0},
        "ignored": {"description": "Fields that would differ but for the ignore rules.", "type": "integer", "minimum": 0},
        "effects": {
          "description": "Updated objects by the gravest effect of their changes.",
          "type": "object",
          "additionalProperties": {"type": "integer", "minimum": 1}
        }
      }
    },
    "ref": {
      "type": "object",
      "required": ["apiVersion", "kind", "name"],
      "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "namespace": {"type": "string"},
        "name": {"type": "string"}
      }
    },
    "object": {
      "type": "object",
      "required": ["object", "action", "effect"],
      "properties": {
        "object": {"$ref": "#/$defs/ref"},
        "from": {"description": "What the object was called before, when that differs.", "$ref": "#/$defs/ref"},
        "action": {"type": "string", "enum": ["create", "update", "delete", "unchanged"]},
        "effect": {"$ref": "#/$defs/effect"},
        "notes": {"description": "What will happen, in words, the gravest first.", "type": "array", "items": {"type": "string"}},
        "fields": {"description": "The changes of an update, in the order of their paths.", "type": "array", "items": {"$ref": "#/$defs/field"}},
        "adopted": {"description": "Fields that become ours and keep their value.", "type": "array", "items": {"$ref": "#/$defs/field"}},
        "kept": {"description": "Fields that are no longer desired and stay.", "type": "array", "items": {"$ref": "#/$defs/field"}},
        "foreign": {"description": "Fields of others that are not desired.", "type": "array", "items": {"$ref": "#/$defs/field"}},
        "ignored": {"description": "Fields that would differ but for the ignore rules.", "type": "integer", "minimum": 0},
        "before": {"description": "The whole object, when it is deleted.", "type": "object", "additionalProperties": true},
        "after": {"description": "The whole object, when it is created.", "type": "object", "additionalProperties": true}
      }
    },
    "effect": {
      "description": "What a change does to what runs.",
      "type": "string",
      "enum": ["none", "metadata", "order", "in-place", "scale", "restart", "recreate", "adopt", "kept"]
    },
    "field": {
      "type": "object",
      "required": ["path", "steps", "op"],
      "properties": {
        "path": {"description": "Where the field is, as people write it: spec.containers[name=app].image.", "type": "string"},
        "steps": {
          "description": "The same path, step by step. Each has exactly one of field, key (of an item of a keyed list), value (of an item of a set) and index.",
          "type": "array",
          "items": {
            "type": "object",
            "properties": {
              "field": {"type": "string"},
              "key": {"type": "object", "additionalProperties": true},
              "value": {},
              "index": {"type": "integer"}
            }
          }
        },
        "op": {"type": "string", "enum": ["add", "remove", "replace", "reorder", "rename"]},
        "before": {"description": "The value before; absent where there was none."},
        "after": {"description": "The value after; absent where there is none."},
        "default": {"description": "After is written nowhere: it is what the API server falls back to.", "type": "boolean"},
        "effect": {"$ref": "#/$defs/effect"},
        "owners": {"description": "The other field managers that own the field.", "type": "array", "items": {"type": "string"}}
      }
    },
    "rule": {
      "type": "object",
      "properties": {
        "source": {"description": "Where the rule was written.", "type": "string"},
        "group": {"type": "string"},
        "version": {"type": "string"},
        "kind": {"type": "string"},
        "namespace": {"type": "string"},
        "name": {"type": "string"},
        "labels": {"type": "string"},
        "annotations": {"type": "string"},
        "objects": {"type": "array", "items": {"$ref": "#/$defs/ref"}},
        "paths": {"type": "array", "items": {"type": "string"}},
        "managers": {"type": "array", "items": {"type": "string"}}
      }
    }
  }
}
`
