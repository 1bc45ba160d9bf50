export { contribute, fetchParams, parseToken, Refused, send, type Store, type Token } from "./client.js";
export { ParameterError, type Params, verify } from "./params.js";
export { report } from "./report.js";
