import { span } from '@belay/graph-view'
import type { Explanation, OfferedAction, RunSummary, StepExplanation } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { commandFor } from '../runs/commands.ts'
import { nameOf, runNamed } from '../runs/names.ts'
import type { Output } from '../terminal/output.ts'
import type { Shown } from '../terminal/shapes.ts'
import { safe, wrap } from '../terminal/text.ts'

/** `belay explain`. */
export async function run({ args, connect, flags, out, quote }: Call): Promise<ExitStatus | undefined> {
  const store = await connect()
  const found = await runNamed(store, args['run']!)
  // Items that stand alike are one line.
  const itemsMax = flags.all ? 10_000 : out.json ? undefined : 1_000
  const explanation = await store.engine.explain(found.id, { itemsMax, quote })
  if (out.json) {
    out.document(explanation)
    return
  }
  const shown = { out, explanation, about: found, all: flags.all === true, now: await store.now() }
  for (const line of explanationLines(shown)) out.line(line)
  return
}

interface ToShow {
  readonly out: Output
  readonly explanation: Explanation
  readonly about: Pick<RunSummary, 'id' | 'key'>
  readonly all: boolean
  readonly now: Date
}

/** What a run and its open steps wait for, with the commands that fit. */
export function explanationLines(shown: ToShow): readonly string[] {
  const { out, explanation, about, all } = shown
  const { steps, more, skipped, continued, followUp, sentence, actions } = explanation
  const named = all ? steps : important(steps)
  const others = all ? [...more, ...skipped, ...continued] : more
  const hidden = steps.length - named.length
  const hint = out.isTerminal ? `: belay explain ${nameOf(about)} --all` : '.'
  return [
    ...paragraph(out, sentence),
    ...commandLines(actions, about),
    ...(named.length > 0 ? [''] : []),
    ...(all ? named.map((step) => [step]) : alike(named)).flatMap((steps) => stepLines(shown, steps)),
    ...others.flatMap((other) => paragraph(out, other.sentence, '·')),
    ...(hidden > 0 ? [`${hidden} more wait for other steps${hint}`] : []),
    ...(followUp === undefined
      ? []
      : [
          '',
          ...explanationLines({
            ...shown,
            explanation: followUp,
            about: { id: followUp.runId, key: undefined },
          }),
        ]),
  ]
}

const FEW = 2

/** First those about which somebody can do something. Those that wait for other steps say little: if they are many, they are counted. */
function important(steps: readonly StepExplanation[]): readonly StepExplanation[] {
  const others = steps.filter(({ reason }) => reason !== 'dependency')
  const named = steps.length - others.length <= FEW ? steps : others
  return [
    ...named.filter(({ actions }) => actions.length > 0),
    ...named.filter(({ actions }) => actions.length === 0),
  ]
}

/** Items of one map that wait for the same, with the same error and the same actions, stand together where the first of them stood. */
function alike(steps: readonly StepExplanation[]): readonly (readonly StepExplanation[])[] {
  const groups = new Map<string, StepExplanation[]>()
  for (const step of steps) {
    const { reason, error, limit, actions } = step
    const verbs = actions.map(({ verb, run }) => [verb, run])
    const key =
      step.itemKey === undefined
        ? step.step
        : JSON.stringify([mapOf(step), reason, error?.name, error?.message, error?.code, limit?.key, verbs])
    const others = groups.get(key)
    if (others === undefined) groups.set(key, [step])
    else others.push(step)
  }
  return [...groups.values()]
}

/** The map of an item, or the loop of a round: the item's name ends in its key in brackets. */
function mapOf({ step, itemKey }: StepExplanation): string {
  return itemKey === undefined ? step : step.slice(0, -itemKey.length - '[]'.length)
}

const KEYS_MAX = 3

/** `200 items of "post" (a, b, c, …): `. Empty for one alone. */
function countOf(steps: readonly StepExplanation[]): string {
  if (steps.length < 2) return ''
  const keys = steps.slice(0, KEYS_MAX).map(({ itemKey }) => itemKey)
  const more = steps.length > KEYS_MAX ? ', …' : ''
  return `${steps.length} items of "${mapOf(steps[0]!)}" (${keys.join(', ')}${more}): `
}

/** Steps that stand alike: the first of them speaks for all. */
function stepLines(
  { out, explanation, about, now }: ToShow,
  steps: readonly StepExplanation[],
): readonly string[] {
  const step = steps[0]!
  const { sentence, until, error, actions } = step
  const left = until === undefined || until <= now ? '' : ` (${span(until.getTime() - now.getTime())} left)`
  const frame = error?.stack?.trim().split('\n')[0]?.trim() ?? ''
  return [
    ...paragraph(out, `${countOf(steps)}${sentence}${left}`, out.shape(markOf(explanation, step))),
    ...(frame === '' ? [] : [`      ${safe(frame)}`]),
    ...commandLines(actions, about),
  ]
}

function commandLines(
  actions: readonly OfferedAction[],
  about: Pick<RunSummary, 'id' | 'key'>,
): readonly string[] {
  return actions
    .flatMap((action) => commandFor(action, about) ?? [])
    .map((command) => `    belay ${safe(command)}`)
}

/** On a terminal in lines of its width, behind the mark; else one line without a mark. */
function paragraph({ isTerminal, plain, columns }: Output, text: string, mark?: string): readonly string[] {
  if (!isTerminal || plain) return [safe(text)]
  if (mark === undefined) return wrap(safe(text), columns)
  return wrap(safe(text), columns - 2).map((line, index) => `${index === 0 ? mark : ' '} ${line}`)
}

function markOf({ status }: Explanation, { reason, actions }: StepExplanation): Shown {
  switch (reason) {
    case 'running':
      return status === 'compensating' || status === 'compensation_failed' ? 'compensating' : 'running'
    case 'dependency':
      return status === 'compensating' || status === 'compensation_failed' ? 'not yet its turn' : 'pending'
    case 'timer':
    case 'signal':
    case 'child':
      return 'waiting'
    case 'paused':
      return 'paused'
    // Without an action it waits for another step that needs somebody.
    case 'operator':
      return actions.length > 0 ? 'needs you' : 'not yet its turn'
    default:
      return 'ready'
  }
}
