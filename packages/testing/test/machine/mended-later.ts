import {
  type Difference,
  isAction,
  isAnswer,
  isEnded,
  isRefused,
  isStopped,
  phaseIn,
  unitOf,
  withAsks,
  withWordsOf,
  wordless,
} from './moment.ts'

/** Known defects, each excluded as narrowly as it can be. The numbers are those of the report. */
export const MENDED_LATER: readonly Difference[] = [
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
    why: 'mended later: 2, the same for all at once',
    parts: ({ happening, before, today, machine }) =>
      happening?.does === 'takeover' &&
      Object.keys(before?.asks ?? {}).some(
        (name) => machine.units[name] === 'failed' && today.units[name] !== 'failed',
      ),
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
          (kind === 'signal' || kind === 'approval') &&
          today.units[name] === 'waiting' &&
          machine.units[name] === 'completed',
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
