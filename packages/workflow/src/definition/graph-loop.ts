import { readOptions } from '../options/index.ts'
import type { GraphItemParts } from './graph-map.ts'
import type { Handler } from './handler.ts'
import { type CheckedLoop, delayMs, draftLoop, roundsMax as roundsMaxOf } from './loop-draft.ts'
import { checkOptionNames } from './option-check.ts'
import type { Round } from './step.ts'
import type { StepDraft } from './step-draft.ts'
import type { WaitPlace } from './wait-draft.ts'

/** The options of a loop as data that concern its rounds together. */
export const GRAPH_ROUNDS_OPTION_NAMES = ['until', 'first', 'roundsMax', 'delay'] as const

type Untyped = Readonly<Record<string, unknown>>

/** Tells whether a step as data is a loop: then it says what it repeats. */
export function isGraphLoop(step: unknown): step is Untyped {
  const given = readOptions(step)
  return given !== undefined && 'repeat' in given
}

/** Checks a loop as data and completes it. */
export function graphLoopDrafts(
  place: WaitPlace,
  step: Untyped,
  parts: GraphItemParts,
): readonly StepDraft[] {
  const { optionNames, handler, defaults } = parts
  checkOptionNames(place, 'the loop', step, [
    ...['repeat', 'onFailure', ...GRAPH_ROUNDS_OPTION_NAMES],
    ...optionNames.filter((name) => name !== 'handler'),
  ])
  const { repeat, until, first, roundsMax, delay, ...options } = step
  const run = handler('repeat', repeat) as Handler | null
  const round = { ...parts.item({ ...options, handler: repeat }), run }
  const loop = graphRounds(place, { until, first, roundsMax, delay }, handler)
  return draftLoop(place, round, loop, defaults)
}

/** Checks what data says of the rounds together, and finds its handlers. */
export function graphRounds(
  place: WaitPlace,
  given: { readonly [Option in (typeof GRAPH_ROUNDS_OPTION_NAMES)[number]]: unknown },
  handler: GraphItemParts['handler'],
): CheckedLoop {
  const { first, until, roundsMax, delay } = given
  return {
    first: first === undefined ? undefined : (handler('first', first) as Handler | null),
    until: handler('until', until) as Round['until'],
    roundsMax: roundsMaxOf(place, 'roundsMax', roundsMax),
    delay: delayMs(place, delay),
  }
}
