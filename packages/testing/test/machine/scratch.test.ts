import { writeFileSync } from 'node:fs'
import { it } from 'vitest'
import { Random } from '../../src/conformance/differential/random.ts'
import { type Played, play } from './agreement.ts'
import { type Definition, randomDefinition } from './definitions.ts'
import { historyOf } from './history.ts'
import type { Happening } from './view.ts'

const FIRST = Number(process.env['FIRST'] ?? 1)
const RUNS = Number(process.env['RUNS'] ?? 500)

function signature(differs: string): string {
  return differs
    .replaceAll(/"[a-g](\[\d\])?"/g, '"S"')
    .replaceAll(/\\"[a-g](\[\d\])?\\"/g, '"S"')
    .replaceAll(/(units|asks) [a-g]\[\d\]/g, '$1 I')
    .replaceAll(/(units|asks) [a-g]/g, '$1 S')
    .replaceAll(/run 0192[0-9a-f-]+/gi, 'run R')
    .replaceAll(/"attempt":\d+/g, 'attempt N')
    .replaceAll(/"round":\d+/g, 'round N')
}

async function tryPlay(
  definition: Definition,
  happenings: readonly Happening[],
): Promise<Played | undefined> {
  const left = [...happenings]
  try {
    return await play(definition, () => left.shift())
  } catch {
    return undefined
  }
}

async function shrink(definition: Definition, happenings: readonly Happening[], sig: string) {
  let best = happenings
  let def = definition
  const holds = async (d: Definition, h: readonly Happening[]) => {
    const played = await tryPlay(d, h)
    return played?.differs !== undefined && signature(played.differs) === sig
  }
  for (let moved = true; moved; ) {
    moved = false
    for (let n = best.length - 1; n >= 0; n -= 1) {
      const fewer = best.filter((_, place) => place !== n)
      if (await holds(def, fewer)) {
        best = fewer
        moved = true
      }
    }
    // drop steps
    for (let n = def.shape.steps.length - 1; n >= 0; n -= 1) {
      const step = def.shape.steps[n]!
      if (step === undefined || step.kind === 'map' || step.kind === 'repeat') continue
      const out = step.kind === 'join' ? [n - 1, n] : [n]
      const renumber = (d: number) => d - out.filter((o) => o < d).length
      const steps = def.shape.steps
        .filter((_, p) => !out.includes(p))
        .map((s) => ({ ...s, dependsOn: s.dependsOn.filter((d) => !out.includes(d)).map(renumber) }))
      const name = step.name
      if (
        steps.length === 0 ||
        steps.some((s) => Array.isArray(s.when) && s.when.some((w) => w.choice === name))
      )
        continue
      const fewer = { ...def, shape: { steps } }
      if (await holds(fewer, best)) {
        def = fewer
        moved = true
      }
    }
    // simplify fields
    for (let n = 0; n < def.shape.steps.length; n += 1) {
      for (const field of ['when', 'onSkipped', 'onFailure', 'pivot', 'compensateAll'] as const) {
        if (def.shape.steps[n]![field] === undefined) continue
        const steps = def.shape.steps.map((s, p) => {
          if (p !== n) return s
          const { [field]: _, ...rest } = s
          return rest
        })
        const fewer = { ...def, shape: { steps } }
        if (await holds(fewer, best)) {
          def = fewer
          moved = true
        }
      }
      for (const compensate of ['never', 'completed'] as const) {
        const own = def.shape.steps[n]!.compensate
        if (own === 'never' || own === compensate) continue
        const steps = def.shape.steps.map((s, p) => (p === n ? { ...s, compensate } : s))
        const fewer = { ...def, shape: { steps } }
        if (await holds(fewer, best)) {
          def = fewer
          moved = true
          break
        }
      }
      for (const dep of def.shape.steps[n]!.dependsOn) {
        if (def.shape.steps[n]!.kind === 'join') continue
        const steps = def.shape.steps.map((s, p) =>
          p === n ? { ...s, dependsOn: s.dependsOn.filter((d) => d !== dep) } : s,
        )
        const fewer = { ...def, shape: { steps } }
        if (await holds(fewer, best)) {
          def = fewer
          moved = true
        }
      }
    }
  }
  return tryPlay(def, best)
}

it('triage', async () => {
  const found = new Map<
    string,
    { count: number; seed: number; definition: Definition; happenings: Happening[] }
  >()
  const started = Date.now()
  let total = 0
  const parted = new Map<string, number>()
  for (let seed = FIRST; seed < FIRST + RUNS; seed += 1) {
    const random = new Random(seed)
    const definition = randomDefinition(random)
    const happenings: Happening[] = []
    const history = historyOf(random, definition)
    let differs: string | undefined
    let lastLog: readonly string[] = ['']
    try {
      const played = await play(definition, (view) => {
        const next = history(view)
        if (next) happenings.push(next)
        return next
      })
      differs = played.differs
      lastLog = played.log
    } catch (error) {
      differs = `threw ${String((error as Error).message).slice(0, 200)}`
    }
    total += happenings.length
    const endOfLog = lastLog.at(-1)!
    if (differs === undefined) {
      const why = endOfLog.startsWith('   ') ? `full: ${/"run":"(\w+)"/.exec(endOfLog)![1]}` : endOfLog
      parted.set(why, (parted.get(why) ?? 0) + 1)
    }
    if (differs === undefined) continue
    const sig = signature(differs)
    const known = found.get(sig)
    if (known === undefined) found.set(sig, { count: 1, seed, definition, happenings })
    else {
      known.count += 1
      if (happenings.length < known.happenings.length) Object.assign(known, { definition, happenings, seed })
    }
  }
  const lines = [
    `${Date.now() - started} ms, ${total} happenings`,
    ...[...parted].sort((a, b) => b[1] - a[1]).map(([why, n]) => `${n} ${why}`),
  ]
  for (const [sig, each] of [...found].sort((a, b) => b[1].count - a[1].count)) {
    lines.push('', `##### ${each.count} x ${sig}   (seed ${each.seed})`)
    if (sig.startsWith('threw')) continue
    const small = await shrink(each.definition, each.happenings, sig)
    if (small) lines.push(...small.log)
  }
  writeFileSync('/tmp/helpers/a-triage.txt', lines.join('\n'))
}, 3_600_000)
