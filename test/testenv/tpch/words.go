package tpch

import "strings"

// The values of the specification's columns, in its order where a number stands for one.
var (
	regions = strings.Split("AFRICA,AMERICA,ASIA,EUROPE,MIDDLE EAST", ",")
	nations = strings.Split("ALGERIA,ARGENTINA,BRAZIL,CANADA,EGYPT,ETHIOPIA,FRANCE,GERMANY,INDIA,INDONESIA,IRAN,IRAQ,JAPAN,JORDAN,KENYA,MOROCCO,MOZAMBIQUE,PERU,"+
		"CHINA,ROMANIA,SAUDI ARABIA,VIETNAM,RUSSIA,UNITED KINGDOM,UNITED STATES", ",")
	regionOf   = []int{0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1}
	segments   = strings.Split("AUTOMOBILE,BUILDING,FURNITURE,MACHINERY,HOUSEHOLD", ",")
	priorities = strings.Split("1-URGENT,2-HIGH,3-MEDIUM,4-NOT SPECIFIED,5-LOW", ",")
	instructs  = strings.Split("DELIVER IN PERSON,COLLECT COD,NONE,TAKE BACK RETURN", ",")
	modes      = strings.Split("REG AIR,AIR,RAIL,SHIP,TRUCK,MAIL,FOB", ",")
	classes    = strings.Fields("STANDARD SMALL MEDIUM LARGE ECONOMY PROMO")
	finishes   = strings.Fields("ANODIZED BURNISHED PLATED POLISHED BRUSHED")
	metals     = strings.Fields("TIN NICKEL BRASS STEEL COPPER")
	packings   = strings.Fields("SM LG MED JUMBO WRAP")
	containers = strings.Fields("CASE BOX BAG JAR PKG PACK CAN DRUM")
	colours    = strings.Fields("almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon chocolate " +
		"coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot " +
		"indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy olive orange " +
		"orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring " +
		"steel tan thistle tomato turquoise violet wheat white yellow")
)
