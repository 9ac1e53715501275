package diff

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"kudevops.io/appsvc/internal/diffcases"
)

// place says where a case is tested.
type place int

const (
	inTrees    place = 1 << iota // in this folder, without any server
	inClusters                   // in test/controlplane, with a real API server
	inBoth     = inTrees | inClusters
)

// caseIDs are all kinds of differences that public reports tell of, and where each is
// tested. Q: quantities, N: other scalars, F: server defaults, E: empty values, L: lists,
// O: fields of other owners, S: Secrets and ConfigMaps, I: identity.
var caseIDs = map[string]place{
	"Q1": inBoth, "Q2": inBoth, "Q3": inBoth, "Q4": inBoth, "Q5": inBoth, "Q7": inBoth,
	"Q9": inBoth, "Q10": inBoth, "Q11": inBoth, "Q12": inBoth, "Q15": inBoth, "Q16": inBoth,
	"Q18": inBoth, "Q20": inBoth, "Q21": inBoth, "Q22": inTrees,
	"N1": inBoth, "N3": inBoth, "N5": inBoth, "N8": inTrees, "N9": inTrees, "N10": inTrees,
	"N12": inBoth, "N13": inBoth, "N16": inTrees, "N17": inBoth, "N18": inBoth, "N19": inBoth,
	"N22": inTrees,
	"F1":  inBoth, "F2": inBoth, "F3": inBoth, "F4": inBoth, "F6": inClusters, "F7": inBoth,
	"F10": inBoth, "F11": inBoth, "F12": inBoth, "F14": inClusters, "F15": inBoth, "F18": inBoth,
	"F19": inBoth, "F20": inBoth, "F22": inBoth, "F23": inBoth, "F24": inBoth, "F25": inBoth,
	"F26": inBoth, "F27": inClusters, "F28": inClusters, "F29": inBoth, "F31": inBoth, "F31b": inClusters,
	"F32": inTrees, "F33": inClusters, "F35": inBoth,
	"E1": inBoth, "E2": inBoth, "E5": inBoth, "E6": inBoth, "E7": inBoth, "E8": inBoth,
	"E10": inBoth, "E11": inBoth, "E12": inBoth, "E13": inBoth, "E14": inBoth, "E15": inBoth,
	"L2": inBoth, "L3": inBoth, "L4": inBoth, "L6": inBoth, "L7": inBoth, "L9": inBoth,
	"L10": inClusters, "L11": inBoth, "L12": inBoth, "L13": inClusters, "L15": inTrees, "L18": inBoth,
	"L19": inTrees, "L21": inTrees, "L22": inBoth, "L23": inBoth, "L24": inBoth, "L25": inBoth,
	"L28": inBoth, "L29": inBoth,
	"O1": inClusters, "O2": inTrees, "O3": inClusters, "O4": inClusters, "O5": inClusters, "O6": inClusters,
	"O7": inClusters, "O8": inClusters, "O10": inClusters, "O11": inClusters, "O12": inClusters, "O13": inClusters,
	"O14": inClusters, "O15": inClusters, "O16": inClusters, "O18": inClusters, "O19": inClusters, "O20": inClusters,
	"O21": inClusters, "O23": inClusters, "O24": inClusters, "O25": inClusters, "O27": inClusters, "O28": inClusters,
	"O29": inClusters, "O30": inClusters, "O31": inClusters,
	"S1": inBoth, "S2": inBoth, "S4": inBoth, "S5": inTrees, "S7": inBoth, "S10": inBoth,
	"S12": inBoth, "S13": inTrees, "S14": inBoth, "S15": inTrees,
	"I1": inTrees, "I2": inTrees, "I3": inClusters, "I4": inTrees, "I5": inTrees, "I7": inBoth,
	"I9": inBoth, "I10": inBoth, "I11": inClusters, "I12": inBoth, "I14": inTrees, "I15": inClusters,
	"I17": inClusters, "I18": inTrees, "I19": inTrees, "I20": inClusters, "I21": inClusters, "I22": inClusters,
	"I25": inBoth,
}

// TestEveryCaseIsTested: no kind of difference is without a test where it occurs.
func TestEveryCaseIsTested(t *testing.T) {
	t.Parallel()
	tested := make(map[string]place)
	cases, err := diffcases.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		tested[c.ID] |= inTrees
		if c.Cluster != nil {
			tested[c.ID] |= inClusters
		}
	}
	for pattern, where := range map[string]place{
		"cases_*_test.go": inTrees,
		filepath.Join("..", "..", "test", "controlplane", "diff*_test.go"): inClusters,
	} {
		for _, id := range idsIn(t, pattern) {
			tested[id] |= where
		}
	}
	for id, want := range caseIDs {
		if missing := want &^ tested[id]; missing&inTrees != 0 {
			t.Errorf("%s has no test here", id)
		} else if missing&inClusters != 0 {
			t.Errorf("%s has no test in test/controlplane", id)
		}
	}
	for id := range tested {
		if caseIDs[id] == 0 {
			t.Errorf("%s is tested and is no known kind of difference", id)
		}
	}
}

// idsIn gives the ids of the rows of the tables in Go files.
func idsIn(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files are like %s: %v", pattern, err)
	}
	row := regexp.MustCompile(`\bid: +"([A-Z][0-9]+b?)"`)
	var out []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range row.FindAllSubmatch(text, -1) {
			out = append(out, string(match[1]))
		}
	}
	return out
}
