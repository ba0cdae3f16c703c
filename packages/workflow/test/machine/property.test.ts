import { expect, it } from 'vitest'
import { noCounts, play } from './play.ts'

/** `MACHINE_RUNS=1000000 npx vitest run packages/workflow/test/machine/property` is the long form; `MACHINE_SEED=42` plays one run, with its log. */
const SEED = process.env['MACHINE_SEED']
const RUNS = SEED === undefined ? Number(process.env['MACHINE_RUNS'] ?? 2_000) : 1
const FIRST = Number(SEED ?? 1)

it('random runs of random definitions keep the rules, and a load of their rows is what memory has', () => {
  const counts = noCounts()

  for (let seed = FIRST; seed < FIRST + RUNS; seed++) play(seed, counts, { isHard: seed % 4 === 0 })

  expect(counts.compares).toBeGreaterThan(RUNS)
  if (RUNS > 1) for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(0)
}, 3_600_000)
