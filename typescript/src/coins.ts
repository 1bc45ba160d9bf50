// The coins of a report: exact laws from words of 64 uniform bits, decided by integers. The way from words to draws is that of
// package engine/collections/collect/exact, so that the same words give the same report in Go.

/** Bits returns 64 uniform bits. */
export type Bits = () => bigint;

const WORD = 1n << 64n;
const MASK = WORD - 1n;

/** One is what the integers of randomisers are over, 2^62. */
export const ONE62 = 1n << 62n;

/** secure returns the words of WebCrypto's generator. A block is erased as it is given out. */
export function secure(): Bits {
  const block = new BigUint64Array(64);
  let left = 0;
  return () => {
    if (left === 0) {
      globalThis.crypto.getRandomValues(block);
      left = block.length;
    }
    const at = block.length - left--;
    const word = block[at]!;
    block[at] = 0n;
    return word;
  };
}

/** Rand draws from exact laws. */
export class Rand {
  #bits: Bits;
  #pool = 0n;
  #left = 0;

  constructor(bits: Bits) {
    this.#bits = bits;
  }

  /** coin is true with probability 1/2. */
  coin(): boolean {
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
  uniform(k: bigint): bigint {
    const least = WORD % k;
    for (;;) {
      const product = this.#bits() * k;
      if ((product & MASK) >= least) return product >> 64n;
    }
  }

  /** bernoulli62 is true with probability k/2^62. */
  bernoulli62(k: bigint): boolean {
    return this.#bits() >> 2n < k;
  }

  /**
   * sixtyFour returns 64 independent bits, each 1 with probability k/2^62: each stands for a uniform integer of 62 bits that
   * is compared with k from its highest bit down.
   */
  sixtyFour(k: bigint): bigint {
    let ones = 0n;
    let open = MASK;
    for (let place = 61n; place >= 0n && open !== 0n; place--) {
      const word = this.#bits();
      if (((k >> place) & 1n) === 1n) {
        ones |= open & ~word & MASK;
        open &= word;
      } else {
        open &= ~word & MASK;
      }
    }
    return ones;
  }
}
