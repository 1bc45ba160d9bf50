"use strict";
(() => {
  // src/coins.ts
  var WORD = 1n << 64n;
  var MASK = WORD - 1n;
  var ONE62 = 1n << 62n;
  function secure() {
    const block = new BigUint64Array(64);
    let left = 0;
    return () => {
      if (left === 0) {
        globalThis.crypto.getRandomValues(block);
        left = block.length;
      }
      const at = block.length - left--;
      const word = block[at];
      block[at] = 0n;
      return word;
    };
  }
  var Rand = class {
    #bits;
    #pool = 0n;
    #left = 0;
    constructor(bits) {
      this.#bits = bits;
    }
    /** coin is true with probability 1/2. */
    coin() {
      if (this.#left === 0) {
        this.#pool = this.#bits();
        this.#left = 64;
      }
      const toss = (this.#pool & 1n) === 1n;
      this.#pool >>= 1n;
      this.#left--;
      return toss;
    }
    /**
     * uniform returns a uniform integer in [0, k), 1 <= k <= 2^64: the high word of a product with a uniform word, drawn anew
     * where the low word is under 2^64 mod k.
     */
    uniform(k) {
      const least = WORD % k;
      for (; ; ) {
        const product = this.#bits() * k;
        if ((product & MASK) >= least) return product >> 64n;
      }
    }
    /** bernoulli62 is true with probability k/2^62. */
    bernoulli62(k) {
      return this.#bits() >> 2n < k;
    }
    /**
     * sixtyFour returns 64 independent bits, each 1 with probability k/2^62: each stands for a uniform integer of 62 bits that
     * is compared with k from its highest bit down.
     */
    sixtyFour(k) {
      let ones = 0n;
      let open = MASK;
      for (let place = 61n; place >= 0n && open !== 0n; place--) {
        const word = this.#bits();
        if ((k >> place & 1n) === 1n) {
          ones |= open & ~word & MASK;
          open &= word;
        } else {
          open &= ~word & MASK;
        }
      }
      return ones;
    }
  };

  // src/keep.ts
  var EPSILON_UNIT = 10000n;
  function parseEpsilon(text) {
    if (typeof text !== "string" || !/^(0|[1-9])(\.\d{0,3}[1-9])?$/.test(text)) return void 0;
    const [whole, fraction2 = ""] = text.split(".");
    const n = BigInt(whole + fraction2.padEnd(4, "0"));
    return n >= 500n && n <= 80000n ? n : void 0;
  }
  function keepKary(epsilon, k) {
    for (let precision = 192n; ; precision *= 2n) {
      const [lo, hi] = expBounds(epsilon, precision);
      const down = keep(lo, k, precision);
      if (down === keep(hi, k, precision)) return down;
    }
  }
  var keepBinary = (epsilon) => keepKary(epsilon, 2n);
  var flipUnary = (epsilon) => ONE62 - keepBinary(epsilon);
  function keep(e, k, precision) {
    return (e << 62n) / ((k - 1n << precision) + e);
  }
  function expBounds(epsilon, precision) {
    let lo = 1n << precision;
    let hi = lo;
    let down = lo;
    let up = lo;
    for (let i = 1n; ; i++) {
      const den = EPSILON_UNIT * i;
      down = down * epsilon / den;
      up = (up * epsilon + den - 1n) / den;
      lo += down;
      hi += up;
      if (down === 0n && 2n * epsilon <= EPSILON_UNIT * (i + 1n)) return [lo, hi + 2n * up];
    }
  }

  // src/plan.ts
  var MEAN_STEPS = 2 ** 32;
  function plan(d) {
    const e = strictExp(Number(d.epsilon) / 1e4);
    return d.protocol === "LDP_BIT" ? planBit(d, e) : planHier(d, e);
  }
  function planBit(d, e) {
    const a = (e + 1) / (e - 1);
    const need = Math.ceil(25 * (a * a));
    if (d.expected < need) return void 0;
    const cell = { cell: 0, randomizer: "BITMEAN", domain: MEAN_STEPS, keep_num: String(keepBinary(d.epsilon)), quota: d.expected, min: need };
    return { cells: [cell], min: need };
  }
  function planHier(d, e) {
    const v1 = 4 * e / ((e - 1) * (e - 1));
    const side = 2.88 * d.levels;
    const need = Math.ceil(side * side * v1);
    if (d.expected < need) return void 0;
    const half = Math.floor((need + 2 * d.levels - 1) / (2 * d.levels));
    const cells = [];
    for (let i = 0; i < d.levels; i++) {
      const domain = 4 ** (i + 1);
      const kary2 = !d.zcdp && domain <= 3 * e + 2;
      const keep2 = kary2 ? keepKary(d.epsilon, BigInt(domain)) : flipUnary(d.epsilon);
      const quota = Math.floor(d.expected / d.levels) + (i < d.expected % d.levels ? 1 : 0);
      cells.push({ cell: i, randomizer: kary2 ? "KRR" : "OUE", domain, keep_num: String(keep2), quota, min: half, level: i + 1 });
    }
    return { cells, min: Math.max(need, half * d.levels) };
  }
  var LN2_HIGH = 5954088943 / 2 ** 33;
  var LN2_LOW = 7440617110012397e-26;
  var INVERSE = (() => {
    const c = [0, 0];
    for (let n = 2, f = 1; n <= 20; n++) c[n] = 1 / (f *= n);
    return c;
  })();
  function strictExp(x) {
    const k = Math.floor(x * Math.LOG2E + 0.5);
    const r = x - k * LN2_HIGH - k * LN2_LOW;
    let sum = INVERSE[14];
    for (let n = 13; n >= 2; n--) sum = INVERSE[n] + sum * r;
    return (1 + (r + sum * r * r)) * 2 ** k;
  }

  // src/params.ts
  var ParameterError = class extends Error {
  };
  var MAX_PARAMS = 1 << 20;
  var MAX_MAGNITUDE = 1e100;
  async function verify(bytes, fingerprint) {
    if (bytes.length > MAX_PARAMS) throw new ParameterError("the parameters are longer than any collection's");
    const print = hex(new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", new Uint8Array(bytes))));
    if (fingerprint !== void 0 && fingerprint !== print) throw new ParameterError("the fingerprint is not that of the parameters");
    const text = decode(bytes);
    const p = object(parse(text));
    const declared = object(p["declared"]);
    const epsilon = parseEpsilon(declared["epsilon"]);
    if (epsilon === void 0) throw new ParameterError("epsilon is not from 0.05 to 8");
    const protocol = p["protocol"];
    if (protocol !== "LDP_BIT" && protocol !== "LDP_HIER") throw new ParameterError("this library reports by LDP_BIT and LDP_HIER only");
    const shape = readShape(protocol, epsilon, declared);
    const strata = readStrata(declared["strata"]);
    const stratum = p["stratum"] === void 0 ? "" : name(p["stratum"]);
    if (strata.length > 0 ? !strata.includes(stratum) : stratum !== "") throw new ParameterError("the stratum is none of the declared ones");
    const planned = plan(shape.declaration);
    if (planned === void 0) throw new ParameterError("the collection declares too few contributors");
    const want = canonical(p, declared, shape, strata, stratum, planned);
    if (want !== text) throw new ParameterError("the parameters are not those that their declaration gives");
    return Object.freeze({
      collection: String(p["collection"]),
      uuid: String(p["uuid"]),
      protocol,
      stratum,
      epsilon,
      epsilonText: String(declared["epsilon"]),
      lo: shape.lo,
      hi: shape.hi,
      levels: shape.declaration.levels,
      nullDefault: shape.nullDefault,
      cells: planned.cells,
      fingerprint: print
    });
  }
  function readShape(protocol, epsilon, d) {
    const lo = number(d["lo"] ?? 0);
    const hi = number(d["hi"] ?? 0);
    const expected = number(d["n_expected"]);
    const levels = protocol === "LDP_HIER" ? number(d["levels"]) : 0;
    const nulls = d["null_default"];
    const nullDefault = number(Array.isArray(nulls) && nulls.length === 1 ? nulls[0] : void 0);
    if (!(lo < hi) || !(hi - lo >= 1 / MAX_MAGNITUDE) || nullDefault < lo || nullDefault > hi) throw new ParameterError("lo, hi and null_default are no interval with a point");
    if (!Number.isInteger(expected) || expected < 1 || expected > 1e9) throw new ParameterError("n_expected is out of range");
    if (protocol === "LDP_HIER" && (!Number.isInteger(levels) || levels < 1 || levels > 6)) throw new ParameterError("levels are out of range");
    const option = d["option"];
    if (option !== void 0 && !(protocol === "LDP_HIER" && option === "zcdp")) throw new ParameterError("the option is unknown");
    return { declaration: { protocol, epsilon, expected, levels, zcdp: option === "zcdp" }, lo, hi, nullDefault };
  }
  function canonical(p, d, s, strata, stratum, planned) {
    const some = (v, zero) => v === zero ? void 0 : v;
    return JSON.stringify({
      version: 1,
      collection: collectionName(p["collection"]),
      uuid: uuid(p["uuid"]),
      protocol: s.declaration.protocol,
      round: 1,
      stratum: some(stratum, ""),
      declared: {
        epsilon: d["epsilon"],
        n_expected: s.declaration.expected,
        lo: some(s.lo, 0),
        hi: some(s.hi, 0),
        levels: some(s.declaration.levels, 0),
        null_default: [s.nullDefault],
        option: s.declaration.zcdp ? "zcdp" : void 0,
        strata: strata.length > 0 ? strata : void 0
      },
      derived: { groups: [s.declaration.expected] },
      published: {},
      n_min: planned.min,
      cells: planned.cells
    });
  }
  function decode(bytes) {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new ParameterError("the parameters are no text");
    }
  }
  function parse(text) {
    try {
      return JSON.parse(text);
    } catch {
      throw new ParameterError("the parameters are no JSON");
    }
  }
  function object(v) {
    if (typeof v !== "object" || v === null || Array.isArray(v)) throw new ParameterError("the parameters have another shape");
    return v;
  }
  function number(v) {
    if (typeof v !== "number" || !(Math.abs(v) <= MAX_MAGNITUDE)) throw new ParameterError("a declared number is missing or out of range");
    return v;
  }
  function readStrata(v) {
    if (v === void 0) return [];
    if (!Array.isArray(v) || v.length === 0 || v.length > 256) throw new ParameterError("the strata are no list of names");
    return v.map(name);
  }
  function name(v) {
    if (typeof v !== "string" || v === "" || v.trim() !== v || new TextEncoder().encode(v).length > 64) throw new ParameterError("a stratum has no name");
    return v;
  }
  function collectionName(v) {
    if (typeof v !== "string" || !/^[\p{L}\p{Nd}_$-]+(\.[\p{L}\p{Nd}_$-]+)?$/u.test(v)) throw new ParameterError("the collection has no name");
    return v;
  }
  function uuid(v) {
    if (typeof v !== "string" || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(v)) throw new ParameterError("the collection has no UUID");
    return v;
  }
  function hex(bytes) {
    return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  }

  // src/report.ts
  var HEADER = 16;
  var PROTOCOL = { LDP_BIT: 1, LDP_HIER: 6 };
  var report = (p, cell, value) => reportBy(secure(), p, cell, value);
  function reportBy(bits, p, cell, value) {
    const c = p.cells[cell];
    if (c === void 0 || c.cell !== cell) throw new RangeError("the round has no such cell");
    const payload = randomise(new Rand(bits), p, c, value);
    const out = new Uint8Array(HEADER + payload.length);
    out.set([1, PROTOCOL[p.protocol], 1, 0]);
    new DataView(out.buffer).setUint32(4, cell);
    for (let i = 0; i < 8; i++) out[8 + i] = parseInt(p.fingerprint.slice(2 * i, 2 * i + 2), 16);
    out.set(payload, HEADER);
    return out;
  }
  function randomise(r, p, c, value) {
    if (p.protocol === "LDP_BIT") {
      const steps = BigInt(Math.floor(fraction(p, value) * c.domain));
      const bit = r.uniform(BigInt(c.domain)) < steps;
      return Uint8Array.of(r.bernoulli62(keepBinary(p.epsilon)) === bit ? 1 : 0);
    }
    const leaves = 4 ** p.levels;
    const leaf = Math.min(Math.floor(fraction(p, value) * leaves), leaves - 1);
    const node = Math.floor(leaf / 4 ** (p.levels - c.level));
    return c.randomizer === "KRR" ? kary(r, p, c, node) : unary(r, p, c, node);
  }
  function fraction(p, value) {
    const v = value === null || Number.isNaN(value) ? p.nullDefault : value;
    const x = Math.min(Math.max(v, p.lo), p.hi);
    const f = (x / 2 - p.lo / 2) / (p.hi / 2 - p.lo / 2);
    return f >= 1 ? 1 : f > 0 ? f : 0;
  }
  function kary(r, p, c, v) {
    const truth = r.bernoulli62(keepKary(p.epsilon, BigInt(c.domain)));
    const other = Number(r.uniform(BigInt(c.domain - 1)));
    const told = truth ? v : other >= v ? other + 1 : other;
    return Uint8Array.of(told >> 8, told & 255);
  }
  function unary(r, p, c, v) {
    const flip = flipUnary(p.epsilon);
    const out = new Uint8Array(Math.ceil(c.domain / 8));
    for (let at = 0; at < out.length; at += 8) {
      const word = r.sixtyFour(flip);
      for (let i = 0; i < 8 && at + i < out.length; i++) out[at + i] = Number(word >> BigInt(56 - 8 * i) & 0xffn);
    }
    const byte = Math.floor(v / 8);
    const place = 128 >> v % 8;
    out[byte] = r.coin() ? out[byte] | place : out[byte] & ~place;
    const over = c.domain % 8;
    if (over !== 0) out[out.length - 1] &= 255 << 8 - over & 255;
    return out;
  }

  // src/wallet.ts
  var TwiceError = class extends ParameterError {
  };
  var CapError = class extends Error {
  };
  var DamageError = class extends Error {
  };
  var KEY = "scrim-wallet";
  var FIRST_CAP = "4";
  var UNIT = 10000n;
  var Wallet = class {
    constructor(store) {
      this.store = store;
    }
    store;
    get entries() {
      return this.read().entries;
    }
    /** cap is what all reports together may cost; 4 where the person has set none. */
    get cap() {
      return this.read().cap;
    }
    /** spent is the sum of epsilon over all reports. */
    get spent() {
      return decimal(total(this.read()));
    }
    /** setCap sets the cap, a decimal with at most four digits after the point. One below what is spent allows no more. */
    setCap(text) {
      if (units(text) === void 0) throw new RangeError("a limit is a number such as 2.5, from 0 to 1000, with at most four digits after the point");
      this.write({ ...this.read(), cap: text });
    }
    /** find returns the report to a collection of verified parameters. One that was made otherwise is an error: nobody reports twice. */
    async find(p, token) {
      return found(this.read(), p, await digest(token));
    }
    /** sumWith is what all reports would cost together with one by these parameters. */
    sumWith(p) {
      const c = this.read();
      return decimal(total(c) + (c.entries.some((e) => e.uuid === p.uuid) ? 0n : p.epsilon));
    }
    /** allows tells whether the cap has room for a report by these parameters. */
    allows(p) {
      return units(this.sumWith(p)) <= units(this.cap);
    }
    /**
     * make randomises a value, null for none, and keeps the report. Called again for the collection it returns what is there, and
     * looks at the value no more.
     */
    async make(p, token, value) {
      const print = await digest(token);
      return exclusively(() => {
        const c = this.read();
        const before = found(c, p, print);
        if (before !== void 0) return before;
        if (!this.allows(p)) throw new CapError(`the reports would cost epsilon = ${this.sumWith(p)} together, and the limit is ${c.cap}`);
        const made = (/* @__PURE__ */ new Date()).toISOString().slice(0, 10);
        const { collection, uuid: uuid2, fingerprint, epsilonText: epsilon } = p;
        const entry = { collection, uuid: uuid2, fingerprint, epsilon, cell: token.cell, token: print, report: hex(report(p, token.cell, value)), made, accepted: false };
        this.write({ ...c, entries: [...c.entries, entry] });
        return entry;
      });
    }
    /** accepted notes that a report has arrived. */
    async accepted(uuid2) {
      await exclusively(() => {
        const c = this.read();
        this.write({ ...c, entries: c.entries.map((e) => e.uuid === uuid2 ? { ...e, accepted: true } : e) });
      });
    }
    read() {
      const text = this.store.getItem(KEY);
      if (text === null) return { version: 1, cap: FIRST_CAP, entries: [] };
      let c;
      try {
        c = JSON.parse(text);
      } catch {
        throw new DamageError("the list of reports cannot be read");
      }
      const sound = c?.version === 1 && typeof c.cap === "string" && units(c.cap) !== void 0 && Array.isArray(c.entries) && c.entries.every((e) => parseEpsilon(e?.epsilon) !== void 0 && /^([0-9a-f]{2}){17,}$/.test(e.report) && typeof e.uuid === "string");
      if (!sound) throw new DamageError("the list of reports is damaged");
      return c;
    }
    write(c) {
      const text = JSON.stringify(c);
      this.store.setItem(KEY, text);
      if (this.store.getItem(KEY) !== text) throw new DamageError("the list of reports cannot be kept here");
    }
  };
  var bytesOf = (e) => Uint8Array.from(e.report.match(/../g), (b) => parseInt(b, 16));
  function found(c, p, token) {
    const e = c.entries.find((e2) => e2.uuid === p.uuid);
    if (e !== void 0 && (e.fingerprint !== p.fingerprint || e.token !== token)) {
      throw new TwiceError("this device has reported to the collection by other parameters or with another token; nobody reports twice");
    }
    return e;
  }
  function total(c) {
    return c.entries.reduce((sum, e) => sum + parseEpsilon(e.epsilon), 0n);
  }
  function units(text) {
    const m = /^(\d{1,4})(?:\.(\d{1,4}))?$/.exec(text);
    if (m === null) return void 0;
    const n = BigInt(m[1] + (m[2] ?? "").padEnd(4, "0"));
    return n <= 1000n * UNIT ? n : void 0;
  }
  function decimal(n) {
    return `${n / UNIT}.${String(n % UNIT).padStart(4, "0")}`.replace(/\.?0+$/, "");
  }
  async function digest(token) {
    return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token.secret))));
  }
  async function exclusively(f) {
    const locks = globalThis.navigator?.locks;
    return locks === void 0 ? f() : await locks.request(KEY, async () => f());
  }

  // src/client.ts
  var Refused = class extends Error {
    constructor(status, code, message) {
      super(message);
      this.status = status;
      this.code = code;
    }
    status;
    code;
    /** temporary tells whether the same bytes may be taken later. */
    get temporary() {
      return this.status === 429 || this.status === 503;
    }
  };
  async function fetchParams(server2, collection, token, fingerprint) {
    const url = address(server2, collection, "round");
    url.searchParams.set("round", String(token.round));
    if (token.stratum !== "") url.searchParams.set("stratum", token.stratum);
    const p = await verify(await ask(url, {}), fingerprint);
    const short = p.collection.split(".").pop();
    if (![p.collection, short].some((n) => n.toLowerCase() === collection.toLowerCase()) || p.stratum !== token.stratum || token.round !== 1) {
      throw new ParameterError("the server answered with the parameters of something else");
    }
    return p;
  }
  async function send(server2, collection, token, bytes) {
    await ask(address(server2, collection, "reports"), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: body(token, bytes)
    });
  }
  function body(token, bytes) {
    return JSON.stringify({ token: token.secret, report: btoa(String.fromCharCode(...bytes)) });
  }
  var ATTEMPTS = 7;
  var FIRST_PAUSE = 500;
  async function ask(url, request) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(url, request);
      } catch (e) {
        if (!passing(e) || attempt === ATTEMPTS) throw e;
      }
      await new Promise((resume) => setTimeout(resume, FIRST_PAUSE * 2 ** (attempt - 1)));
    }
  }
  async function once(url, request) {
    const answer = await fetch(url, { ...request, credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer" });
    if (!answer.ok) throw await refusal(answer);
    return new Uint8Array(await answer.arrayBuffer());
  }
  function passing(failure) {
    if (failure instanceof Refused) return failure.temporary;
    const offline = typeof navigator !== "undefined" && navigator.onLine === false;
    return failure instanceof TypeError && !offline;
  }
  function address(server2, collection, what) {
    const url = new URL("/v1/collections/" + encodeURIComponent(collection) + "/" + what, server2);
    const loopback = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
    if (url.protocol !== "https:" && !loopback) throw new TypeError("tokens go over https only");
    return url;
  }
  async function refusal(answer) {
    const text = (await answer.text()).slice(0, 2e3);
    try {
      const { error, message } = JSON.parse(text);
      return new Refused(answer.status, String(error), String(message));
    } catch {
      return new Refused(answer.status, "", "the server answered with status " + answer.status);
    }
  }

  // src/token.ts
  var SECRET = /^[0-9a-fA-F]{32}$/;
  function parseLink(fragment) {
    const q = new URLSearchParams(fragment.replace(/^#/, ""));
    const [collection, secret, round, cell] = [q.get("c") ?? "", q.get("t") ?? "", q.get("r") ?? "1", q.get("n") ?? "0"];
    if (collection === "" || collection.length > 130 || !SECRET.test(secret) || !/^\d{1,3}$/.test(round) || !/^\d{1,9}$/.test(cell)) return void 0;
    const token = { secret: secret.toLowerCase(), round: Number(round), cell: Number(cell), stratum: q.get("s") ?? "" };
    return { collection, token, question: (q.get("q") ?? "").slice(0, 300), choices: q.getAll("a").slice(0, 64).map((a) => a.slice(0, 100)) };
  }

  // page/words.ts
  var ONE622 = 2 ** 62;
  var number2 = (x) => x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e7) ? x.toPrecision(3) : String(Number(x.toPrecision(4)));
  var percent = (x) => (x > 0.999 ? (100 * x).toFixed(2) : x < 0.01 ? (100 * x).toFixed(2) : (100 * x).toFixed(1)) + " %";
  var epsilonOf = (p) => Number(p.epsilon) / 1e4;
  function purpose(p) {
    const what = p.protocol === "LDP_BIT" ? "the mean of everybody’s answers" : "how everybody’s answers are spread";
    return `From many such reports ${what} can be estimated; no single report says for sure what was answered.`;
  }
  function loss(p) {
    const e = epsilonOf(p);
    const strength = e < 1 ? "strong protection" : e <= 2 ? "a common strength of protection" : e <= 4 ? "moderate protection" : "weak protection: think before you report";
    const odds2 = Math.exp(e);
    return [
      `This collection has ε (epsilon) = ${p.epsilonText}. That is ${strength}.`,
      `Whatever is sent, it is at most ${number2(odds2)} times as likely for your answer as for any other answer that you could have given. Somebody who thought two answers equally likely before is at most ${percent(odds2 / (1 + odds2))} sure of one of them afterwards. This holds against everybody, now and later, the server included.`
    ];
  }
  function odds(p, cell, list) {
    const c = p.cells[cell];
    const keep2 = Number(BigInt(c.keep_num)) / ONE622;
    const parts = named(p, cell, list) ? `${c.domain} answers` : `${c.domain} parts of ${number2(p.lo)} to ${number2(p.hi)}`;
    const mine = named(p, cell, list) ? "your answer" : "the part that your answer is in";
    switch (c.randomizer) {
      case "BITMEAN": {
        const ends = list ?? [p.lo, p.lo / 2 + p.hi / 2, p.hi].map((value) => ({ label: number2(value), value }));
        return {
          sent: "One bit is sent, a 1 or a 0. Your device tosses coins for it; your answer only makes one of the two more likely.",
          head: ["Your answer", "A 1 is sent", "A 0 is sent"],
          rows: ends.map(({ label, value }) => {
            const f = (value - p.lo) / (p.hi - p.lo);
            const one = f * keep2 + (1 - f) * (1 - keep2);
            return [label, percent(one), percent(1 - one)];
          })
        };
      }
      case "KRR":
        return {
          sent: `One of ${parts} is sent: by coins, yours or another.`,
          head: ["What is sent", "How likely"],
          rows: [[mine, percent(keep2)], ["each of the others", percent((1 - keep2) / (c.domain - 1))]]
        };
      case "OUE":
        return {
          sent: `${c.domain} bits are sent, one for each of ${parts}. Your device tosses coins for each of them.`,
          head: ["Bit", "It is a 1"],
          rows: [["of " + mine, percent(0.5)], ["of each other", percent(keep2)]]
        };
    }
  }
  function none(p, list) {
    const leaves = 4 ** p.levels;
    const at = Math.min(Math.floor((p.nullDefault - p.lo) / (p.hi - p.lo) * leaves), leaves - 1);
    const like = p.protocol === "LDP_HIER" && list !== void 0 ? `“${list[Math.max(at, 0)]?.label ?? "none of these"}”` : `an answer of ${number2(p.nullDefault)}`;
    return `It is reported like ${like}, with the same coins: nobody can see who chose this.`;
  }
  function kept(p, cell, report2, list) {
    const c = p.cells[cell];
    const payload = report2.subarray(16);
    if (c.randomizer === "BITMEAN") return `The coins gave the bit ${payload[0]}.`;
    if (c.randomizer === "KRR") {
      const at = payload[0] * 256 + payload[1];
      return `The coins gave number ${at + 1} of ${c.domain}: ${named(p, cell, list) ? list[at]?.label ?? "none of these" : part(p, c.domain, at)}.`;
    }
    const ones = Array.from({ length: c.domain }, (_, v) => payload[v >> 3] >> 7 - (v & 7) & 1).reduce((a, b) => a + b, 0);
    return `The coins gave ${c.domain} bits, of which ${ones} are 1.`;
  }
  var named = (p, cell, list) => list !== void 0 && p.cells[cell].domain === 4 ** p.levels;
  function part(p, parts, at) {
    const edge = (i) => number2(p.lo + (p.hi - p.lo) * i / parts);
    return `${edge(at)} to ${edge(at + 1)}`;
  }
  function choices(p, labels) {
    if (p.protocol === "LDP_BIT") {
      const ends = labels.length === 2 ? labels : p.lo === 0 && p.hi === 1 && labels.length === 0 ? ["No", "Yes"] : void 0;
      return ends?.map((label, i) => ({ label, value: i === 0 ? p.lo : p.hi }));
    }
    const leaves = 4 ** p.levels;
    const middle = (i) => p.lo + (p.hi - p.lo) * (i + 0.5) / leaves;
    if (labels.length > 0 && labels.length <= leaves) return labels.map((label, i) => ({ label, value: middle(i) }));
    if (leaves > 16) return void 0;
    return Array.from({ length: leaves }, (_, i) => ({ label: part(p, leaves, i), value: middle(i) }));
  }
  var REFUSALS = {
    UNKNOWN_TOKEN: "This link was not issued for this collection, or a part of it got lost. Open it again from where you got it.",
    SPENT_TOKEN: "This link has brought another report already, from another browser or device. Nothing more can be sent with it.",
    CLOSED_TOKEN: "Reports are not taken with this link now: the round that it is for has not begun, or it is over.",
    COLLECTION_STATE: "There is no such collection here, or it takes no reports any more. Nothing more is to be done.",
    MALFORMED_REPORT: "The server finds that the report was not made by its rules, and has not taken it. Tell whoever gave you the link."
  };
  function trouble(e, online) {
    if (e instanceof Refused) {
      if (e.temporary) return { text: "The server has no room just now. What was made is kept in this browser; try again in a while.", again: true };
      return { text: REFUSALS[e.code] ?? `The server has answered with an error (${e.status}). Tell whoever gave you the link.`, again: false };
    }
    if (e instanceof TwiceError) {
      return { text: "This browser has reported to the collection before, with another link. Nobody reports twice, so nothing was made.", again: false };
    }
    if (e instanceof ParameterError) {
      return { text: `Nothing was sent, because something is wrong with the collection: ${e.message}. Tell whoever gave you the link.`, again: false };
    }
    if (e instanceof CapError) return { text: `Nothing was made: ${e.message}. The limit is yours, and is set below.`, again: false };
    if (e instanceof DamageError) {
      return { text: `Nothing was made, because ${e.message}. Without the list nobody could know whether you have reported before.`, again: false };
    }
    if (e instanceof TypeError) {
      return { text: online ? "The server cannot be reached. Try again in a while." : "You are offline. Try again when there is a connection.", again: true };
    }
    return { text: "This browser cannot keep a list of what was sent, or lacks something that the page needs. Try another one, and no private window.", again: false };
  }
  function summary(entries, spent, cap) {
    const n = entries.length === 0 ? "No report has been made in this browser" : entries.length === 1 ? "One report was made in this browser" : `${entries.length} reports were made in this browser`;
    return `${n}, costing ε = ${spent} together, of at most ${cap}.`;
  }

  // page/main.ts
  var server = location.origin;
  function element(id) {
    return document.getElementById(id);
  }
  function make(tag, text = "", attributes = {}) {
    const e = document.createElement(tag);
    e.textContent = text;
    for (const [name2, value] of Object.entries(attributes)) e.setAttribute(name2, value);
    return e;
  }
  function show(step) {
    for (const id of ["ask", "made", "thanks"]) element(id).hidden = id !== step;
    if (step !== "ask") element(step).focus();
  }
  var say = (text) => void (element("status").textContent = text);
  function fail(e, again) {
    say("");
    const t = trouble(e, navigator.onLine);
    const box = element("trouble");
    box.replaceChildren(make("p", t.text));
    if (t.again) {
      const button = make("button", "Try again", { type: "button" });
      button.addEventListener("click", () => {
        box.hidden = true;
        again();
      });
      box.append(button);
    }
    box.hidden = false;
    box.focus();
  }
  var Page = class {
    constructor(link, p) {
      this.link = link;
      this.p = p;
      this.list = choices(p, link.choices);
    }
    link;
    p;
    wallet = new Wallet(localStorage);
    list;
    async open() {
      const { p, link, list } = this;
      element("collection").textContent = `${p.collection} at ${location.host}` + (p.stratum === "" ? "" : `, group ${p.stratum}`);
      element("purpose").textContent = purpose(p);
      element("loss").replaceChildren(...loss(p).map((text) => make("p", text)));
      const o = odds(p, link.token.cell, list);
      element("sent").textContent = o.sent;
      const row = (cells, tag) => {
        const tr = make("tr");
        tr.append(...cells.map((text, i) => tag === "td" && i === 0 ? make("th", text, { scope: "row" }) : make(tag, text, tag === "th" ? { scope: "col" } : {})));
        return tr;
      };
      element("odds").replaceChildren(row(o.head, "th"), ...o.rows.map((cells) => row(cells, "td")));
      element("question").textContent = link.question === "" ? "What is your answer?" : link.question;
      element("none").textContent = none(p, list);
      element("fingerprint").textContent = p.fingerprint;
      this.input();
      element("explained").hidden = false;
      this.account();
      const before = await this.wallet.find(p, link.token);
      if (before === void 0) {
        show("ask");
        this.room();
      } else if (before.accepted) {
        element("already").hidden = false;
        this.thank();
      } else {
        this.preview(before);
      }
    }
    /** input makes what the question is answered by. */
    input() {
      const { p, list } = this;
      const box = element("input");
      box.replaceChildren();
      if (list === void 0) {
        const label = make("label", `A number, from ${number2(p.lo)} to ${number2(p.hi)}`, { for: "value" });
        const hint = make("p", "What is beyond counts like the nearest end.", { id: "hint", class: "small" });
        const field = make("input", "", { id: "value", name: "value", type: "text", inputmode: "decimal", autocomplete: "off", "aria-describedby": "hint" });
        box.append(label, field, hint);
      } else {
        list.forEach(({ label, value }) => box.append(radio(label, String(value))));
      }
      element("skip").replaceChildren(radio("I would rather not say", ""));
      element("answer").addEventListener("submit", (event) => {
        event.preventDefault();
        void this.randomise();
      });
      box.addEventListener("input", () => document.querySelectorAll("#skip input").forEach((r) => r.checked = false));
    }
    /** value reads the answer: null for none, undefined where there is nothing to report. */
    value() {
      const picked = document.querySelector("#answer input[type=radio]:checked");
      if (picked !== null) return picked.value === "" ? null : Number(picked.value);
      const text = document.getElementById("value")?.value.trim().replace(",", ".") ?? "";
      const x = Number(text);
      return text === "" || !Number.isFinite(x) ? void 0 : x;
    }
    /** randomise makes the report, once. The answer is forgotten with it. */
    async randomise() {
      const v = this.value();
      element("wrong").hidden = v !== void 0;
      if (v === void 0) return element("wrong").focus();
      try {
        const entry = await this.wallet.make(this.p, this.link.token, v);
        element("answer").reset();
        this.account();
        this.preview(entry);
      } catch (e) {
        fail(e, () => void this.randomise());
      }
    }
    /** preview shows what will be sent. */
    preview(entry) {
      const bytes = bytesOf(entry);
      element("kept").textContent = kept(this.p, this.link.token.cell, bytes, this.list);
      element("body").textContent = body(this.link.token, bytes);
      const button = element("send");
      button.onclick = () => void this.send(entry, button);
      show("made");
    }
    async send(entry, button) {
      button.disabled = true;
      say("Sending");
      try {
        await send(server, this.link.collection, this.link.token, bytesOf(entry));
        await this.wallet.accepted(entry.uuid);
        say("");
        this.account();
        this.thank();
      } catch (e) {
        fail(e, () => void this.send(entry, button));
      } finally {
        button.disabled = false;
      }
    }
    /** thank ends the page's work. The token is spent; it is taken out of the address and the history. */
    thank() {
      history.replaceState(null, "", location.pathname);
      show("thanks");
    }
    /** room says what this report would cost beside the others, and closes the form where that is too much. */
    room() {
      const ok = this.wallet.allows(this.p);
      const would = `With this one, the reports of this browser would cost ε = ${this.wallet.sumWith(this.p)} together`;
      element("room").textContent = ok ? `${would}.` : `${would}, which is more than the limit of ${this.wallet.cap} that stands below. You may leave it at that, or set another one.`;
      element("room").className = ok ? "small" : "notice";
      element("randomise").disabled = !ok;
    }
    /** account shows what the reports of this browser have cost. */
    account() {
      const w = this.wallet;
      element("spent").textContent = summary(w.entries, w.spent, w.cap);
      element("reports").replaceChildren(...w.entries.map((e) => make("li", `${e.made}: ${e.collection}, ε = ${e.epsilon}, ${e.accepted ? "arrived" : "not sent yet, or not known to have arrived"}`)));
      const field = element("cap");
      field.value = w.cap;
      element("limit").onsubmit = (event) => {
        event.preventDefault();
        try {
          w.setCap(field.value.trim());
          element("limited").textContent = `The limit is ${w.cap} now.`;
          this.account();
          this.room();
        } catch (e) {
          element("limited").textContent = e instanceof RangeError ? `This is no limit: ${e.message}.` : trouble(e, navigator.onLine).text;
        }
      };
    }
  };
  function radio(label, value) {
    const outer = make("label", "", { class: "pick" });
    outer.append(make("input", "", { type: "radio", name: "value", value, autocomplete: "off" }), make("span", label));
    return outer;
  }
  async function start() {
    const link = parseLink(location.hash);
    if (link === void 0) {
      say("");
      element("trouble").replaceChildren(make("p", "This page is opened by a link that somebody gave you. The address has no such link, or only a part of it: open it again from where you got it."));
      element("trouble").hidden = false;
      return;
    }
    try {
      const p = await fetchParams(server, link.collection, link.token);
      if (p.cells[link.token.cell] === void 0) throw new ParameterError("the link is for a group of people that it does not have");
      await new Page(link, p).open();
      say("");
    } catch (e) {
      fail(e, () => void start());
    }
  }
  window.addEventListener("hashchange", () => location.reload());
  void start();
})();
