import { expect, it } from 'vitest'
import { playAgreement } from './agreement.ts'

/** `AGREEMENT_RUNS=100000 npx vitest run packages/testing/test/machine` is the long form; `AGREEMENT_SEED=42` plays one history, with its log. */
const SEED = process.env['AGREEMENT_SEED']
const RUNS = SEED === undefined ? Number(process.env['AGREEMENT_RUNS'] ?? 500) : 1
const FIRST = Number(SEED ?? 1)

it('the machine and the engine of today agree about random histories of random definitions', async () => {
  let happenings = 0

  for (let seed = FIRST; seed < FIRST + RUNS; seed += 1) {
    const played = await playAgreement(seed)
    happenings += played.happenings
    if (SEED !== undefined) console.log(played.log.join('\n'))
    expect(played.differs, `AGREEMENT_SEED=${seed}`).toBeUndefined()
  }

  // A single history may be short.
  if (RUNS >= 100) expect(happenings).toBeGreaterThan(RUNS * 5)
}, 3_600_000)
