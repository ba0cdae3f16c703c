import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { playRange, Ranges } from './ranges.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const RUNS_MAX = 100_000

/** A rule, the file that has it, and the text that breaks it. */
const SABOTAGES: readonly (readonly [rule: string, file: string, from: string, to: string])[] = [
  [
    'an undo begins at zero in flight',
    'scope.ts',
    'if (s.alive > 0) return\n',
    "if (s.alive > 0 && s.status !== 'stopping') return\n",
  ],
  ['a late answer changes nothing', 'life.ts', 'u.flying && u.serial === serial', 'u.flying'],
  [
    'a suspect’s row is written',
    'life.ts',
    '  u.recorded = u.flying && !suspect\n  touch(run, u)\n',
    '  u.recorded = u.flying && !suspect\n  if (!suspect) touch(run, u)\n',
  ],
  ['only a loss after a row is a kill', 'life.ts', 'if (isKill) tries.kills += 1', 'tries.kills += 1'],
  ['every loss is shown', 'life.ts', '  tries.losses += 1\n', ''],
  [
    'steps are undone in reverse order',
    'kinds/graph.ts',
    'before: (s, u) => stepOf(u).after.map((name) => at(s, name)!),',
    'before: () => [],',
  ],
  [
    'rounds are undone in reverse order',
    'kinds/loop.ts',
    'before: (s, u) => (placeOf(u) > 0',
    'before: (s, u) => (placeOf(u) > 999',
  ],
  [
    'records of a function are undone by the order of their ends',
    'kinds/recorded.ts',
    'line.slice(since[after]! + 1, after + 1)',
    'line.slice(after, after + 1)',
  ],
  [
    'a late loser is undone',
    'scope.ts',
    'cause === undefined || cause.keep === true',
    'cause === undefined || cause.cancelled !== undefined',
  ],
  [
    'serials never repeat',
    'again.ts',
    "  u.status = 'pending'\n",
    "  u.status = 'pending'\n  u.serial = 0\n",
  ],
  [
    'a late success of a stopped unit counts',
    'life.ts',
    'if (answer.due === undefined) return complete',
    "if (answer.due === undefined) return u.status === 'stopping' ? over(run, u, 'cancelled') : complete",
  ],
  ['a map begins as many as it may', 'kinds/map.ts', ': s.alive >= window', ': s.alive > window'],
  ['a failing scope stops its units', 'stop.ts', '  for (const u of s.units!) stop(run, u)\n', ''],
  [
    'an ask of the same fold is withdrawn',
    'life.ts',
    'if (run.out.dispatch.delete(u)) {',
    'if (run.out.dispatch.has(u) && false) {',
  ],
  ['what was undone runs again in another round', 'again.ts', '  u.round += 1\n', ''],
  ['a dropped key is never used again', 'again.ts', 'Math.max(s.dropped, u.round)', '0'],
  [
    'a step begins after its last dependency',
    'kinds/graph.ts',
    'if (open[index] === 0)',
    'if (open[index]! <= 1)',
  ],
  ['nothing fails after a pivot', 'outcomes.ts', 'return passedPivot(x) ? null : x', 'return x'],
  ['nothing begins in a pause', 'scope.ts', '    u.held = run.paused\n', '    u.held = false\n'],
  [
    'a stop writes what is under way',
    'stop.ts',
    '  if (cause !== undefined) note(u, { cause })\n  touch(run, u)\n',
    '  if (cause !== undefined) note(u, { cause })\n  if (!u.flying) touch(run, u)\n',
  ],
  [
    'a pause writes what is under way',
    'operators.ts',
    '  for (const u of run.units) if (u !== undefined && u.row !== u.status) touch(run, u)\n',
    '',
  ],
  ['a parked scope writes what is under way', 'outcomes.ts', '    if (isAlive(v)) touch(run, v)\n', ''],
  [
    'what a transaction may not commit any more is said',
    'outcomes.ts',
    '  run.out.tombstones.push({ unit: u.no, within: u.within })\n',
    '',
  ],
  [
    'a scope is told once of a unit that tells its outcome before its end',
    'digest.ts',
    "if (s.status === 'open' && u.note?.told === true) s.kind.rests?.(run, s)\n  else if",
    'if',
  ],
  ['a child is started once in a round', 'kinds/child.ts', 'if (isStarted(u)) send', 'if (!isStarted) send'],
  ['what failed after its effect is undone', 'scope.ts', '    u.succeeded ||\n', ''],
]

const ranges = new Ranges()
afterAll(() => ranges.close())

it.each(SABOTAGES)(
  '%s: without it a random run breaks',
  async (_, file, from, to) => {
    const copy = join(ranges.folder, 'workflow')
    rmSync(copy, { recursive: true, force: true })
    for (const part of ['src', 'test/machine'])
      cpSync(join(ROOT, part), join(copy, part), { recursive: true })
    const path = join(copy, 'src/machine', file)
    const text = readFileSync(path, 'utf8')
    expect(text.split(from)).toHaveLength(2)
    writeFileSync(path, text.replace(from, to))

    expect(await firstBroken(copy)).toMatch(/^seed \d+/)
  },
  600_000,
)

it('without a sabotage nothing breaks', async () => {
  expect(await firstBroken(ROOT, 20_000)).toBe('nothing')
}, 600_000)

/** The message of the first of many random runs that breaks a rule. */
async function firstBroken(root: string, runs = RUNS_MAX): Promise<string> {
  const played = await playRange(await ranges.bundle(root), { first: 1, runs }, 300_000)
  return 'broken' in played ? played.broken : 'nothing'
}
