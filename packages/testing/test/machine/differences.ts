import type { Definition } from './definitions.ts'
import {
  type Difference,
  isAnswer,
  isRefused,
  itemsEnded,
  type Moment,
  phaseIn,
  type Side,
  withAsks,
  withUnits,
  withWordsOf,
} from './moment.ts'
import type { Reply } from './view.ts'

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
    why: '80: a map or a loop is one unit. Today it is two rows: a refusal speaks of one of them, and each counts its own attempts.',
    parts: ({ happening, today, machine, definition }) =>
      happening?.does === 'operate' &&
      'unit' in happening &&
      isMap(definition, happening.unit) &&
      isRefused(today.reply) !== isRefused(machine.reply),
    expects: (today, moment) => withWordsOfMap(withAttemptsOfMaps(today, moment), moment),
  },
  {
    why: '115: what only a pause holds is ready, and can be retried and skipped. Today it waits for the steps it depends on.',
    parts: ({ before, today, machine }) =>
      before?.run === 'paused' &&
      JSON.stringify(today.reply ?? '').includes('it waits for the steps it depends on') &&
      machine.reply === 'done',
  },
  {
    why: '1a: what never began keeps its round, of which no key was used, when what it builds on runs anew. Today it has another.',
    expects: (today, { roundsBehind }) =>
      withAsks(today, (name, ask) => {
        const map = name.split('[')[0]!
        return { ...ask, round: ask.round - (roundsBehind.get(name) ?? roundsBehind.get(map) ?? 0) }
      }),
  },
  {
    why: 'A refusal says of a step how it is: what will be undone later has still completed, what a pause holds is ready, and what must run again before it was not always undone.',
    expects: (today, { machine }) =>
      wordless(today.reply) === wordless(machine.reply) ? withWordsOf(today, machine) : today,
  },
  {
    why: 'There are no relays: what only keeps the order of an undo has its forward status in a refusal, and nothing waits for it.',
    parts: ({ today, machine }) =>
      JSON.stringify(today.reply ?? '').includes('it is undone after') && machine.reply === 'done',
    expects: (today, { machine }) =>
      /it has nothing to undo|it is undone after/.test(JSON.stringify(today.reply ?? '')) &&
      isRefused(machine.reply)
        ? withWordsOf(today, machine)
        : today,
  },
  {
    why: 'If a wait fails, the owner folds it with whatever else happens at that moment. Today the claims decide what still begins.',
    parts: ({ before, today, machine, definition }) =>
      definition.shape.steps.some(
        ({ name, kind }) =>
          (kind === 'signal' || kind === 'approval') &&
          machine.units[name] === 'failed' &&
          before?.units[name] !== 'failed',
      ) &&
      (!isEqual(today.units, machine.units) || !isEqual(today.asks, machine.asks)),
  },
  {
    why: '3b: what was released before its handler began has not begun; today that is certain only of a first claim.',
    parts: ({ released, today, machine }) =>
      [...released].some(
        (name) => today.units[name]?.startsWith('compensat') === true && machine.units[name] === 'cancelled',
      ),
  },
]

const isMap = ({ shape }: Definition, unit: string): boolean =>
  shape.steps.some(({ name, kind }) => name === unit && kind === 'join')

function withWordsOfMap(today: Side, { happening, machine, definition }: Moment): Side {
  const isOfMap = happening?.does === 'operate' && 'unit' in happening && isMap(definition, happening.unit)
  return isOfMap && isRefused(today.reply) && isRefused(machine.reply) ? withWordsOf(today, machine) : today
}

function withAttemptsOfMaps(today: Side, { machine, definition }: Moment): Side {
  return withAsks(today, (name, ask) =>
    ask.phase === 'open' && isMap(definition, name)
      ? { ...ask, attempt: machine.asks[name]?.attempt ?? 0 }
      : ask,
  )
}

const isEqual = (one: object, other: object): boolean =>
  JSON.stringify(Object.entries(one).toSorted()) === JSON.stringify(Object.entries(other).toSorted())

const wordless = (reply: Reply | undefined): string =>
  JSON.stringify(reply ?? null)
    .replaceAll(/it is [a-z_]+/g, '')
    .replaceAll(/That is .*/g, '')
    .replaceAll('were undone and must run again', 'must run again')

/** What the machine says according to today’s engine and the list of differences. */
export function expectedOf(moment: Moment): Side {
  return INTENDED.reduce((today, { expects }) => expects?.(today, moment) ?? today, moment.today)
}

/** Why the engines go separate ways now; undefined: they do not. */
export function partingAt(moment: Moment): string | undefined {
  return INTENDED.find(({ parts }) => parts?.(moment) === true)?.why
}
