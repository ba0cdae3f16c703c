import { createEngine, define, type Engine } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { memory, VirtualClock } from '../../src/index.ts'
import { Random } from '../../src/simulation/random.ts'

const SEEDS = Array.from({ length: 4 }, (_, seed) => seed)
const ticked = define('ticked', { version: 1 }).step('note', { run: () => null })
const slow = define('slow', { version: 1 }).sleep('long', { for: '9s' })
const EVERY_MS = 2_000

/** Worlds in which processes die at any moment while they fire schedules, and in which nobody is there for a while. */
describe('simulated worlds of schedules', () => {
  it.each(SEEDS)('seed %i: each time of each schedule has one run, whatever dies', async (seed) => {
    const random = new Random(seed)
    const clock = new VirtualClock()
    const store = memory({ clock })
    const living: { readonly die: () => void }[] = []
    const start = async () => {
      const { adapter, die } = store.connectProcess()
      const engine = createEngine({
        adapter,
        workflows: [ticked, slow],
        lease: '2s',
        random: () => random.next(),
      })
      // A process that dies meanwhile is never answered.
      const started = engine.start().catch(() => {})
      living.push({ die })
      await Promise.race([started, clock.advance(0)])
    }
    const operator = createEngine({ adapter: store.connect() })
    await put(operator)
    const from = clock.now()

    for (let turn = 0; turn < 60; turn += 1) {
      if (living.length < 3 && random.chance(0.4)) await start()
      // Around the next time as often as anywhere.
      const toNext = EVERY_MS - (clock.now() % EVERY_MS)
      await clock.advance(
        random.chance(0.5) ? Math.max(1, toNext + random.integer(-30, 30)) : random.integer(1, 900),
      )
      if (living.length > 0 && random.chance(0.35))
        living.splice(random.integer(0, living.length - 1), 1)[0]!.die()
    }
    await start()
    await clock.advance('60s')
    const until = clock.now()
    for (const { die } of living) die()

    const keys = store.dump().runs.map(({ run }) => run.key!)
    expect(new Set(keys).size).toBe(keys.length)
    const all: string[] = []
    for (let at = from + EVERY_MS; at <= until - 1_000; at += EVERY_MS)
      all.push(`schedule:a:${new Date(at).toISOString()}`)
    expect(keys.filter((key) => key.startsWith('schedule:a:')).sort()).toEqual(expect.arrayContaining(all))
    expect(overlapping(store.dump().runs.filter(({ run }) => run.key!.startsWith('schedule:one:')))).toEqual(
      [],
    )
  })
})

async function put({ schedules }: Engine): Promise<void> {
  await schedules.put('a', { every: EVERY_MS, workflow: ticked, overlap: 'allow', catchUp: 'all' })
  await schedules.put('one', { cron: '*/3 * * * * *', workflow: slow, overlap: 'queue', catchUp: 'all' })
}

/** Runs that began before an earlier one had ended. */
function overlapping(
  runs: readonly { readonly run: { readonly createdAt: number; readonly finishedAt: number | null } }[],
): readonly number[] {
  const ordered = runs.map(({ run }) => run).sort((one, other) => one.createdAt - other.createdAt)
  return ordered.flatMap(({ createdAt }, index) => {
    const before = ordered[index - 1]
    return before !== undefined && (before.finishedAt ?? Number.POSITIVE_INFINITY) > createdAt
      ? [createdAt]
      : []
  })
}
