package dialect

import "slices"

// Forms are the forms that do not depend on what the server tells about itself.
var Forms = slices.Concat(refused, []Form{
	{Pattern: "SHOW STORAGE ENGINES", Query: "SHOW ENGINES"},
})
