import { Random } from '../../src/conformance/differential/random.ts'
import { type Definition, randomDefinition } from './definitions.ts'
import { expectedOf, partingAt } from './differences.ts'
import { type History, historyOf } from './history.ts'
import { Machine } from './machine.ts'
import type { Moment, Side } from './moment.ts'
import { Today } from './today.ts'
import type { Happening, View } from './view.ts'

export interface Played {
  readonly log: readonly string[]
  /** The first difference; undefined if the engines agree. */
  readonly differs: string | undefined
  readonly happenings: number
}

/** Plays one random history of one random definition on both engines. */
export function playAgreement(seed: number): Promise<Played> {
  const random = new Random(seed)
  const definition = randomDefinition(random)
  return play(definition, historyOf(random, definition))
}

/** Both engines at every moment of a history, until they differ or go separate ways as intended. */
async function play(definition: Definition, next: History): Promise<Played> {
  const log = definition.shape.steps.map((step) => JSON.stringify(step))
  const today = await Today.begin(definition)
  const machine = new Machine(definition, today.runId, await today.now())
  const roundsBehind = new Map<string, number>()
  const released = new Set<string>()
  let before: View | null = null
  try {
    for (let n = 0; ; n += 1) {
      const happening: Happening | null | undefined = before === null ? null : next(before)
      if (happening === undefined) return { log, differs: undefined, happenings: n }
      log.push(`${n}. ${JSON.stringify(happening)}`)
      const pending = machine.pending
      const replies = happening === null ? [] : [await today.apply(happening), await machine.apply(happening)]
      const action = happening?.does === 'operate' ? happening.action : undefined
      for (const unit of notBegun(happening, before)) released.add(unit)
      const sides = {
        today: { ...(await today.view()), reply: replies[0] },
        machine: { ...(await machine.view()), reply: replies[1] },
      }
      if (action !== undefined && REOPENING.has(action)) fallBehind(roundsBehind, pending, sides)
      const moment: Moment = { definition, happening, before, released, roundsBehind, ...sides }
      log.push(`     today   ${shown(moment.today)}`, `     machine ${shown(moment.machine)}`)
      const parted = partingAt(moment)
      if (parted !== undefined) return { log: [...log, parted], differs: undefined, happenings: n }
      const differs = firstDifference(expectedOf(moment), moment.machine)
      if (differs !== undefined) return { log, differs, happenings: n }
      before = moment.machine
    }
  } catch (thrown) {
    // Today’s engine forgets a decision that came early if its step is skipped, and cannot read it when the step is retried.
    if (!(thrown instanceof TypeError && thrown.message.includes("'approved'"))) throw thrown
    return { log, differs: undefined, happenings: log.length }
  } finally {
    await today.close()
  }
}

/** Units whose handler was not called, although an attempt of theirs has ended. */
function notBegun(happening: Happening | null, before: View | null): readonly string[] {
  if (happening?.does === 'release') return [happening.unit]
  const decides = (unit: string) => before?.asks[unit]?.phase === 'decide'
  if (happening?.does === 'takeover') return Object.keys(before?.asks ?? {}).filter(decides)
  const unit = happening !== null && 'unit' in happening ? happening.unit : undefined
  return unit !== undefined && decides(unit) ? [unit] : []
}

/** They make a run go forward again that has ended. */
const REOPENING: ReadonlySet<string> = new Set(['retry', 'retryStep', 'skipStep'])

function fallBehind(
  behind: Map<string, number>,
  pending: ReadonlySet<string>,
  { today, machine }: { readonly today: View; readonly machine: View },
): void {
  for (const name of pending) {
    const [one, other] = [today.rounds[name], machine.rounds[name]]
    if (one !== undefined && other !== undefined) behind.set(name, one - other)
  }
}

function firstDifference(today: Side, machine: Side): string | undefined {
  const differ = (what: string, one: unknown, other: unknown) =>
    shown(one) === shown(other) ? undefined : `${what}: today ${shown(one)}, machine ${shown(other)}`
  const first = differ('reply', today.reply, machine.reply) ?? differ('run', today.run, machine.run)
  if (first !== undefined) return first
  for (const part of ['asks', 'units'] as const) {
    for (const name of new Set([...Object.keys(today[part]), ...Object.keys(machine[part])])) {
      const [one, other] = [today[part][name], machine[part][name]]
      if (part === 'units' && today.run === 'paused' && waits(one) && waits(other)) continue
      const found = differ(`${part} ${name}`, one, other)
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** Whether a step of a paused run waits for its turn or for the resumption is for readers to tell. */
const waits = (word: unknown): boolean => word === 'ready' || word === 'pending' || word === 'waiting'

const shown = (value: unknown): string => JSON.stringify(value) ?? 'nothing'
