package berth

// #include "berth.h"
import "C"

// ChangeKind is what was done to a file.
type ChangeKind int32

// Kinds.
const (
	Added   ChangeKind = 1
	Changed ChangeKind = 2
	Deleted ChangeKind = 3
)

func (k ChangeKind) String() string { return C.GoString(C.berth_change_kind_name(C.int32_t(k))) }

// FileType is what a file is.
type FileType int32

// Types.
const (
	TypeFile    FileType = 1
	TypeFolder  FileType = 2
	TypeSymlink FileType = 3
	TypeOther   FileType = 4 // listed, and never made in the real folder
)

func (t FileType) String() string { return C.GoString(C.berth_change_type_name(C.int32_t(t))) }

// Change is what a session did to a folder that its policy shows copy-on-write.
type Change struct {
	Kind         ChangeKind
	Folder, Path string   // the copy-on-write folder on the host, and the path below it
	Bytes        int64    // of a file that is added or changed
	Type         FileType // of a deleted one: of what was there
}

func takeChanges(raw *C.berth_changes) []Change {
	defer C.berth_changes_free(raw)
	var all []Change
	for i := C.size_t(0); i < C.berth_changes_count(raw); i++ {
		var it C.berth_change
		if C.berth_changes_at(&it, raw, i, nil) != C.BERTH_OK {
			break
		}
		all = append(all, Change{ChangeKind(it.kind), viewed(it.folder, it.folder_size), viewed(it.path, it.path_size),
			int64(it.bytes), FileType(it.file_type)})
	}
	return all
}
