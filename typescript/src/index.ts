export { body, contribute, fetchParams, Refused, send } from "./client.js";
export { ParameterError, type Params, verify } from "./params.js";
export { report } from "./report.js";
export { type Link, parseLink, parseToken, type Token } from "./token.js";
export { bytesOf, CapError, DamageError, type Entry, type Store, TwiceError, Wallet } from "./wallet.js";
