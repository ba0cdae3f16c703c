import type { Moment, Side } from './moment.ts'
import type { Happening, Reply, View } from './view.ts'

interface Difference {
  /** What differs, and which rule says so. */
  readonly why: string
  /** The two engines go separate ways: the history ends here. */
  parts?(moment: Moment): boolean
  /** What the machine says instead of what today's engine says; the history goes on. */
  expects?(today: Side, moment: Moment): Side
}

/** All differences that are intended. The numbers are those of the rules. */
const INTENDED: readonly Difference[] = [
  {
    why: '10a: a step that is decided in a pause is held; today the same attempt goes on to its handler.',
    parts: ({ happening, before, today }) =>
      isAnswer(happening, 'complete') &&
      phaseIn(before, happening.unit) === 'decide' &&
      today.run === 'paused',
  },
  {
    why: '10a: a map or loop ends in a pause, and its run may; today its join waits for the resumption.',
    parts: ({ before, today, machine }) =>
      (today.run === 'paused' && machine.run === 'completed') ||
      // The run stops in that pause.
      (before?.run === 'paused' &&
        Object.entries(today.units).some(
          ([name, word]) =>
            word === 'cancelled' &&
            ['completed', 'failed'].includes(machine.units[name] ?? '') &&
            itemsEnded(machine, name),
        )),
    expects: (today, { machine }) =>
      withUnits(today, (name, word) =>
        today.run === 'paused' &&
        word === 'running' &&
        ['completed', 'failed'].includes(machine.units[name] ?? '') &&
        itemsEnded(today, name)
          ? machine.units[name]
          : word,
      ),
  },
  {
    why: '5.10, 5.19: no round is born in a stop, and items of an earlier time are dropped; today they stay.',
    expects: (today, { machine }) =>
      withUnits(today, (name, word) => {
        if (!name.endsWith(']') || !['pending', 'cancelled', 'skipped'].includes(word)) return word
        // A skipped map says nothing of them.
        const isOfSkipped = machine.units[name.split('[')[0]!] === 'skipped'
        return isOfSkipped || !(name in machine.units) ? machine.units[name] : word
      }),
  },
  {
    why: 'There are no relays: what only keeps the order of an undo has its forward status in a refusal.',
    expects: (today, { machine }) =>
      JSON.stringify(today.reply ?? '').includes('it has nothing to undo')
        ? withWordsOf(today, machine)
        : today,
  },
  {
    why: 'What is due at one tick is one fold: if the run stops in it, nothing of it begins. Today the claims decide.',
    parts: ({ happening, before, today, machine }) =>
      (happening?.does === 'pass' || isAction(happening, 'resume')) &&
      Object.entries(machine.units).some(
        ([name, word]) => word === 'failed' && ['waiting', 'ready'].includes(before?.units[name] ?? ''),
      ) &&
      Object.keys(today.asks).some((name) => machine.units[name] === 'cancelled'),
  },
  {
    why: '3b: what was released before its handler began has not begun; today that is certain only of a first claim.',
    parts: ({ released, today, machine }) =>
      [...released].some(
        (name) => today.units[name]?.startsWith('compensat') === true && machine.units[name] === 'cancelled',
      ),
  },
]

/** Known defects, each excluded as narrowly as it can be. The numbers are those of the report. */
const MENDED_LATER: readonly Difference[] = [
  {
    why: 'mended later: 1, attempts begin at 1 again after a retry in the same round',
    expects: (today, { wasRetried, machine }) =>
      wasRetried
        ? withAsks(today, (name, ask) => ({ ...ask, attempt: machine.asks[name]?.attempt ?? 0 }))
        : today,
  },
  {
    why: 'mended later: 2, in a stopped run a step that asks for a retry, or is lost, has failed instead of being cancelled',
    parts: ({ happening, before, today, machine }) =>
      (isAnswer(happening, 'tryAgain') || isAnswer(happening, 'lose')) &&
      phaseIn(before, happening.unit) !== 'undo' &&
      today.units[happening.unit] !== machine.units[happening.unit] &&
      machine.units[happening.unit] === 'failed',
  },
  {
    why: 'mended later: 3, a decision in a stopped run is not kept: it is neither skipped, nor decided when it is retried',
    parts: ({ happening, before }) =>
      isAnswer(happening, 'complete') && phaseIn(before, happening.unit) === 'decide' && isStopped(before),
  },
  {
    why: 'mended later: 4, retryStep and skipStep of an ended run are refused',
    parts: ({ happening, before, today }) =>
      isAction(happening, 'retryStep', 'skipStep') && isEnded(before) && today.reply === 'done',
    expects: (today, { happening, before, machine }) =>
      isAction(happening, 'retryStep', 'skipStep', 'retry') && isEnded(before) && isRefused(today.reply)
        ? withWordsOf(today, machine)
        : today,
  },
  {
    why: 'mended later: 5, a parked run cannot be retried',
    parts: ({ happening, before, today, machine }) =>
      isAction(happening, 'retry') && !isEnded(before) && today.reply === 'done' && isRefused(machine.reply),
  },
  {
    why: 'mended later: 6, retryStep and skipStep in a pause are refused for a step that is ready',
    parts: ({ happening, before, today, machine }) =>
      isAction(happening, 'retryStep', 'skipStep') &&
      before?.run === 'paused' &&
      today.reply === 'done' &&
      isRefused(machine.reply),
  },
  {
    why: 'mended later: 7, a cancellation of a paused run that has failed ends as compensated instead of cancelled',
    parts: ({ wasCancelledInPause, today, machine }) =>
      wasCancelledInPause && today.run === 'cancelled' && ['compensated', 'failed'].includes(machine.run),
  },
  {
    why: 'mended later: 8, a refusal names another status',
    expects: (today, { machine }) =>
      isRefused(today.reply) && wordless(today.reply) === wordless(machine.reply)
        ? withWordsOf(today, machine)
        : today,
  },
  {
    why: 'mended later: 8, a refusal for a map under way is in the words of its beginning',
    expects: (today, { happening, machine, definition }) =>
      happening?.does === 'operate' &&
      'unit' in happening &&
      definition.shape.steps.some(({ name, kind }) => name === happening.unit && kind === 'join')
        ? withWordsOf(today, machine)
        : today,
  },
  {
    why: 'mended later: 9, a map or loop can be skipped before it has opened',
    parts: ({ happening, today, machine }) =>
      isAction(happening, 'skipStep') &&
      isRefused(today.reply) &&
      /decides the items of a map|begins a loop/.test(JSON.stringify(today.reply)) &&
      machine.reply === 'done',
  },
  {
    why: 'mended later: 10, a run that ended in a pause is still paused when it is retried',
    parts: ({ happening, today, machine }) =>
      isAction(happening, 'retry') && today.run === 'running' && machine.run === 'paused',
  },
  {
    why: 'mended later: 11, a second cancellation without an undo is refused',
    expects: (today, { happening, machine }) =>
      isAction(happening, 'abandon') && today.reply === 'unchanged' && isRefused(machine.reply)
        ? { ...today, reply: machine.reply }
        : today,
  },
  {
    why: 'mended later: 12, a map whose items were undone one by one is decided anew',
    parts: ({ happening, machine, before }) =>
      isAction(happening, 'retry') &&
      Object.entries(machine.asks).some(
        ([name, { phase }]) => phase === 'decide' && `${name}[0]` in (before?.units ?? {}),
      ),
  },
  {
    why: 'mended later: 13, what never began keeps its round when what it builds on runs anew',
    expects: (today, { roundsBehind }) =>
      withAsks(today, (name, ask) => {
        const map = name.split('[')[0]!
        return { ...ask, round: ask.round - (roundsBehind.get(name) ?? roundsBehind.get(map) ?? 0) }
      }),
  },
  {
    why: 'mended later: 14, compensateAll with started owes nothing for items that only began',
    parts: ({ definition, today, machine }) =>
      definition.shape.steps.some(
        ({ name, compensateAll, compensate }) =>
          compensateAll === true &&
          compensate === 'started' &&
          today.units[unitOf(name)]?.startsWith('compensat') === true &&
          machine.units[unitOf(name)]?.startsWith('compensat') !== true,
      ),
  },
  {
    why: 'mended later: 15, giving up a decision or an opening counts as a begun handler',
    parts: ({ happening, before }) =>
      happening?.does === 'operate' &&
      happening.action === 'giveUpStep' &&
      ['decide', 'open'].includes(phaseIn(before, happening.unit) ?? ''),
  },
  {
    why: 'mended later: 17, skipStep of an item of a map that has ended',
    expects: (today, { happening, machine }) =>
      isAction(happening, 'skipStep') &&
      JSON.stringify(machine.reply).includes('cannot be continued by skipping')
        ? withWordsOf(today, machine)
        : today,
  },
  {
    why: 'mended later: 18, an undo that waits for others is not told so',
    expects: (today, { machine }) =>
      JSON.stringify(today.reply ?? '').includes('it is undone after') ? withWordsOf(today, machine) : today,
  },
  {
    why: 'mended later: 19, a map of which no item has begun is not decided again after a stop',
    parts: ({ happening, today, machine }) =>
      isAction(happening, 'retry') &&
      Object.entries(today.asks).some(
        ([name, { phase }]) =>
          phase === 'open' && machine.asks[name] === undefined && `${name}[0]` in machine.units,
      ),
  },
  {
    why: 'mended later: 20, an undo that a pause holds can be neither retried nor skipped',
    parts: ({ happening, before, today, machine }) =>
      isAction(happening, 'retryCompensation', 'skipCompensation') &&
      before?.run === 'paused' &&
      today.reply === 'done' &&
      isRefused(machine.reply),
  },
  {
    why: 'mended later: 21, a cancellation of a cancelled run that is paused ends its pause',
    parts: ({ happening, before, today }) =>
      isAction(happening, 'cancel', 'abandon') && before?.run === 'paused' && today.reply !== 'done',
  },
  {
    why: 'mended later: 22, a failure that was told to a map is not kept if the map has not ended',
    parts: ({ happening, today, machine }) =>
      isAction(happening, 'retry') &&
      Object.entries(machine.asks).some(([name]) => today.units[name] === 'failed'),
  },
  {
    why: 'mended later: 23, an abandoned run that is paused ends when its last handler ends',
    parts: ({ before, today, machine }) =>
      before?.run === 'paused' && today.run === 'paused' && machine.run === 'cancelled',
  },
  {
    why: 'mended later: 24, a signal that came early is kept although its step failed',
    parts: ({ happening, wasRetried, today, machine, definition }) =>
      // The new one is ignored.
      (wasRetried &&
        happening?.does === 'signal' &&
        today.reply === 'done' &&
        machine.reply === 'unchanged') ||
      definition.shape.steps.some(
        ({ name, kind }) =>
          kind === 'signal' && today.units[name] === 'waiting' && machine.units[name] === 'completed',
      ),
  },
  {
    why: 'mended later: 25, the delay of a round is waited for again after a retry',
    parts: ({ happening, today, machine, definition }) =>
      isAction(happening, 'retry') &&
      Object.entries(today.asks).some(
        ([name]) =>
          machine.units[name] === 'ready' &&
          definition.shape.steps.some((step) => step.kind === 'repeat' && name.startsWith(unitOf(step.name))),
      ),
  },
  {
    why: 'mended later: 26, the delay of a round that ends in a pause begins at the resumption',
    parts: ({ happening, today, machine, definition }) =>
      isAction(happening, 'resume') &&
      Object.entries(today.asks).some(
        ([name]) =>
          machine.units[name] === 'ready' &&
          definition.shape.steps.some((step) => step.kind === 'repeat' && name.startsWith(unitOf(step.name))),
      ),
  },
]

const unitOf = (step: string): string => step.replace('[]', '')

const ALL = [...INTENDED, ...MENDED_LATER]

/** What the machine says according to today’s engine and the list of differences. */
export function expectedOf(moment: Moment): Side {
  return ALL.reduce((today, { expects }) => expects?.(today, moment) ?? today, moment.today)
}

/** Why the engines go separate ways now; undefined: they do not. */
export function partingAt(moment: Moment): string | undefined {
  return ALL.find(({ parts }) => parts?.(moment) === true)?.why
}

type Answer = Extract<Happening, { readonly unit: string }>

function isAnswer<Does extends Answer['does']>(
  happening: Happening | null,
  does: Does,
): happening is Extract<Answer, { does: Does }> {
  return happening?.does === does
}

type Operation = Extract<Happening, { does: 'operate' }>

function isAction(happening: Happening | null, ...actions: readonly Operation['action'][]): boolean {
  return happening?.does === 'operate' && actions.includes(happening.action)
}

const phaseIn = (view: View | null, unit: string): string | undefined => view?.asks[unit]?.phase
const isEnded = (view: View | null): boolean =>
  ['completed', 'failed', 'compensated', 'cancelled'].includes(view?.run ?? '')
const isRefused = (reply: Reply | undefined): boolean => typeof reply === 'object'

/** Stopped, and under way. In a pause only the cancelled steps tell. */
const isStopped = (view: View | null): boolean =>
  view?.run === 'compensating' ||
  (view?.run === 'paused' &&
    Object.values(view.units).some((word) => word === 'cancelled' || word === 'failed'))

const wordless = (reply: Reply | undefined): string =>
  JSON.stringify(reply).replaceAll(/it is [a-z_]+|These have failed for good.*/g, '')

/** Both refuse, in other words. */
function withWordsOf(today: Side, machine: Side): Side {
  return isRefused(today.reply) && isRefused(machine.reply) ? { ...today, reply: machine.reply } : today
}

function itemsEnded({ units }: View, map: string): boolean {
  return Object.entries(units).every(
    ([name, word]) =>
      !name.startsWith(`${map}[`) || !['pending', 'ready', 'running', 'waiting'].includes(word),
  )
}

function withUnits(side: Side, to: (name: string, word: string) => string | undefined): Side {
  const units = Object.entries(side.units).flatMap(([name, word]) => {
    const changed = to(name, word)
    return changed === undefined ? [] : [[name, changed] as const]
  })
  return { ...side, units: Object.fromEntries(units) }
}

function withAsks(side: Side, to: (name: string, ask: View['asks'][string]) => View['asks'][string]): Side {
  const asks = Object.entries(side.asks).map(([name, ask]) => [name, to(name, ask)] as const)
  return { ...side, asks: Object.fromEntries(asks) }
}
