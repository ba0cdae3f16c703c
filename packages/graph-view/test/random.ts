import type { LayoutStep } from '../src/index.ts'

/** The same numbers for the same seed, from 0 to 1. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Steps that depend on at most `degree` earlier ones, mostly near ones. Some depend on none, so there may be several parts. */
export function randomGraph(seed: number, size: number, degree = 3): LayoutStep[] {
  const random = randomOf(seed)
  return Array.from({ length: size }, (_, index) => {
    const count = Math.min(index, Math.floor(random() * (degree + 1)))
    const near = () => index - 1 - Math.floor(random() ** 3 * index)
    const dependsOn = [...new Set(Array.from({ length: count }, () => `step${near()}`))]
    const long = random() < 0.1 ? 'WithAVeryLongNameThatIsCut'.repeat(3) : ''
    return { name: `step${index}`, dependsOn, ...(random() < 0.2 ? { items: {} } : {}), long }
  })
}
