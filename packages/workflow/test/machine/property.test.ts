import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { noCounts, play } from './play.ts'
import { playRange, Ranges } from './ranges.ts'

/**
 * `MACHINE_RUNS=1000000 npx vitest run packages/workflow/test/machine/property` is the long form, on all processors; `MACHINE_FIRST` is its first seed.
 * `MACHINE_SEED=42` plays one run, in this process.
 */
const { MACHINE_SEED, MACHINE_RUNS, MACHINE_FIRST = '1' } = process.env
const RUNS = Number(MACHINE_RUNS ?? 20_000)
// Without a number, other tests need the other processors.
const PROCESSES = MACHINE_RUNS === undefined ? 1 : availableParallelism()

if (MACHINE_SEED === undefined) {
  it('random runs of random definitions keep the rules, and a load of their rows is what memory has', async () => {
    const ranges = new Ranges()
    onTestFinished(() => ranges.close())
    const program = await ranges.bundle(fileURLToPath(new URL('../..', import.meta.url)))
    const runs = Math.ceil(RUNS / PROCESSES)

    const played = await Promise.all(
      Array.from({ length: PROCESSES }, (_, nth) =>
        playRange(program, { first: Number(MACHINE_FIRST) + nth * runs, runs }),
      ),
    )

    for (const each of played) {
      if ('broken' in each) expect.fail(each.broken)
      expect(each.counts.compares).toBeGreaterThan(runs)
      for (const [what, count] of Object.entries(each.counts)) expect(count, what).toBeGreaterThan(0)
    }
  }, 3_600_000)
} else {
  it('the run of a seed keeps the rules', () => {
    const seed = Number(MACHINE_SEED)

    play(seed, noCounts(), { isHard: seed % 4 === 0 })
  })
}
