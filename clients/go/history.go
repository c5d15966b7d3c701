package condense

import (
	"crypto/sha256"
	"strconv"
)

const maxCheckpoints = 128

// A checkpoint is a state of the transcript: the caller's first elements, and the etag that the server told for them.
type checkpoint struct {
	length int
	etag   string
}

var start = checkpoint{}

type digest = [sha256.Size]byte

// A sentHistory is what the server is known to have: digests of the elements that were sent, and checkpoints,
// ascending. It is only ever a shortcut, for base 0 with everything is always right. Values never change: calls that
// overlap each work on the one that they started with, and whichever ends later leaves one that was true.
type sentHistory struct {
	digests     []digest
	checkpoints []checkpoint
}

// countUnchanged is how many elements at the head of a list are what was sent.
func (h *sentHistory) countUnchanged(digests []digest) int {
	count := 0
	for count < len(digests) && count < len(h.digests) && digests[count] == h.digests[count] {
		count++
	}
	return count
}

// baseFor is the latest checkpoint within that many elements.
func (h *sentHistory) baseFor(unchanged int) checkpoint {
	for index := len(h.checkpoints) - 1; index >= 0; index-- {
		if h.checkpoints[index].length <= unchanged {
			return h.checkpoints[index]
		}
	}
	return start
}

// baseAfterMismatch is where to send from after the server has refused a base: before it, and where the server agrees.
//
// An etag of ours at the server's own length has to be the server's. Below that length, or up to a common length that
// the server names, the latest checkpoint is the best guess.
func (h *sentHistory) baseAfterMismatch(refused checkpoint, metadata map[string]string) checkpoint {
	common, hasCommon := number(metadata["commonLength"])
	length, hasLength := number(metadata["serverLength"])
	for index := len(h.checkpoints) - 1; index >= 0; index-- {
		candidate := h.checkpoints[index]
		if candidate.length >= refused.length {
			continue
		}
		likely := true
		if hasCommon {
			likely = candidate.length <= common
		} else if hasLength {
			likely = candidate.length < length || candidate == checkpoint{length, metadata["serverEtag"]}
		}
		if likely {
			return candidate
		}
	}
	return start
}

// accepted is the history after the server has taken a list with a delta from base. Checkpoints behind the base were
// overwritten by the delta.
func (h *sentHistory) accepted(base checkpoint, digests []digest, etag string) *sentHistory {
	added := checkpoint{len(digests), etag}
	kept := make([]checkpoint, 0, len(h.checkpoints)+1)
	for _, known := range h.checkpoints {
		if known.length <= base.length && known.length < added.length {
			kept = append(kept, known)
		}
	}
	return &sentHistory{digests, thinned(append(kept, added))}
}

// thinned keeps at most maxCheckpoints: of the older half every second one goes, so that early bases get rare, not
// absent.
func thinned(checkpoints []checkpoint) []checkpoint {
	if len(checkpoints) <= maxCheckpoints {
		return checkpoints
	}
	half := maxCheckpoints / 2
	kept := make([]checkpoint, 0, len(checkpoints))
	for index, known := range checkpoints {
		if index >= half || index%2 == 0 {
			kept = append(kept, known)
		}
	}
	return kept
}

func number(text string) (int, bool) {
	value, err := strconv.ParseUint(text, 10, 62)
	return int(value), err == nil
}
