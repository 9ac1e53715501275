package diff

import (
	"bytes"
	"encoding/base64"
	"math"
	"strings"
	gotime "time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// equal compares two plain JSON values as the API server would, if it stored both:
//
//  1. Numbers by value: 2 and 2.0 are the same. Integers are never compared as floats.
//  2. Quantities by amount, where the type says quantity; in a list of resources after
//     rounding up to a thousandth, as the server does. Times by instant and bytes as
//     bytes, where the type says so.
//  3. Mappings key by key. A field that holds an empty value which the server does not
//     store is the same as none.
//  4. Lists item by item, in order.
//  5. All else strictly by type: 80 and "80" differ, as do true and "true".
//
// It knows no defaults: see defaulter.
func equal(a, b any, t *typeInfo) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMappings(a, b, t)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		item := t.item()
		for i := range a {
			if !equal(a[i], b[i], item) {
				return false
			}
		}
		return true
	default:
		return equalScalars(a, b, t)
	}
}

func equalMappings(a, b map[string]any, t *typeInfo) bool {
	shared := 0
	for name, av := range a {
		below, dropped := t.at(name)
		bv, ok := b[name]
		if ok {
			shared++
		}
		if ok && equal(av, bv, below) {
			continue
		}
		if isNone(av, dropped) && (!ok || isNone(bv, dropped)) {
			continue
		}
		return false
	}
	if shared == len(b) {
		return true
	}
	for name, bv := range b {
		if _, ok := a[name]; ok {
			continue
		}
		if _, dropped := t.at(name); !isNone(bv, dropped) {
			return false
		}
	}
	return true
}

// isNone reports whether a value of a field is as good as no value.
func isNone(v any, droppedEmpty bool) bool {
	return v == nil || droppedEmpty && isEmpty(v)
}

// isEmpty reports whether a value is the zero of its type.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// equalScalars compares what has no parts.
func equalScalars(a, b any, t *typeInfo) bool {
	switch t.shape {
	case shapeQuantity:
		return equalQuantities(a, b)
	case shapeTime:
		return equalTimes(a, b)
	case shapeBinary:
		return equalBytes(a, b)
	}
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && a == b
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case nil:
		return b == nil
	}
	return equalNumbers(a, b)
}

// equalNumbers compares integers and floats by value.
func equalNumbers(a, b any) bool {
	ai, aInt := asInt(a)
	bi, bInt := asInt(b)
	if aInt && bInt {
		return ai == bi
	}
	af, aFloat := a.(float64)
	bf, bFloat := b.(float64)
	return aFloat && bFloat && !aInt && !bInt && af == bf
}

// asInt gives an integer, also one that is written as a float.
func asInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case float64:
		// Beyond 2^53 a float does not say which integer was meant.
		if math.Trunc(v) == v && math.Abs(v) <= 1<<53 {
			return int64(v), true
		}
	}
	return 0, false
}

// equalQuantities compares amounts. The API server rounds those of resources up to a
// thousandth; nobody writes anything finer elsewhere.
func equalQuantities(a, b any) bool {
	as, aText := a.(string)
	bs, bText := b.(string)
	if aText && bText && as == bs {
		return true
	}
	aq, aOK := asQuantity(a)
	bq, bOK := asQuantity(b)
	if !aOK || !bOK {
		return equalAsWritten(a, b)
	}
	return aq.Cmp(bq) == 0
}

// asQuantity reads an amount. One that is longer than any amount in use is left alone:
// reading it could take a long time.
func asQuantity(v any) (resource.Quantity, bool) {
	var s string
	switch v := v.(type) {
	case string:
		s = v
	case float64:
		if i, ok := asInt(v); ok {
			return *resource.NewQuantity(i, resource.DecimalSI), true
		}
		s = formatFloat(v)
	default:
		i, ok := asInt(v)
		return *resource.NewQuantity(i, resource.DecimalSI), ok
	}
	if !readable(s) {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return resource.Quantity{}, false
	}
	q.RoundUp(resource.Milli)
	return q, true
}

// readable leaves out what is too long for an amount, or has an exponent of more than
// three digits: comparing it would take seconds.
func readable(s string) bool {
	const longest, exponent = 64, 3
	if s == "" || len(s) > longest {
		return false
	}
	i := strings.IndexAny(s, "eE")
	return i < 0 || len(strings.TrimLeft(s[i+1:], "+-0")) <= exponent
}

// equalTimes compares instants, of which the API server keeps whole seconds.
func equalTimes(a, b any) bool {
	as, aText := a.(string)
	bs, bText := b.(string)
	if !aText || !bText || as == bs {
		return equalAsWritten(a, b)
	}
	at, errA := gotime.Parse(gotime.RFC3339, as)
	bt, errB := gotime.Parse(gotime.RFC3339, bs)
	return errA == nil && errB == nil && at.Equal(bt)
}

// equalBytes compares bytes in base64, which may be broken into lines.
func equalBytes(a, b any) bool {
	as, aText := a.(string)
	bs, bText := b.(string)
	if !aText || !bText || as == bs {
		return equalAsWritten(a, b)
	}
	ab, errA := base64.StdEncoding.DecodeString(as)
	bb, errB := base64.StdEncoding.DecodeString(bs)
	return errA == nil && errB == nil && bytes.Equal(ab, bb)
}

// equalAsWritten compares two scalars that do not have the form of their type.
func equalAsWritten(a, b any) bool { return equalScalars(a, b, unknown) }
