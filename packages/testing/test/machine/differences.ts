import { MENDED_LATER } from './mended-later.ts'
import {
  type Difference,
  isAnswer,
  itemsEnded,
  type Moment,
  phaseIn,
  type Side,
  withUnits,
  withWordsOf,
} from './moment.ts'

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
    why: 'If a wait fails, the owner folds it with whatever else happens at that moment. Today the claims decide what still begins.',
    parts: ({ before, today, machine, definition }) =>
      definition.shape.steps.some(
        ({ name, kind }) =>
          (kind === 'signal' || kind === 'approval') &&
          machine.units[name] === 'failed' &&
          today.units[name] === 'failed' &&
          before?.units[name] !== 'failed',
      ) &&
      (Object.keys(today.asks).some((name) => machine.units[name] === 'cancelled') ||
        // Today’s engine has no row yet of what a map or loop has not opened.
        Object.keys(machine.asks).some((name) => (today.units[name] ?? 'cancelled') === 'cancelled') ||
        Object.keys(machine.units).some((name) => !(name in today.units))),
  },
  {
    why: '3b: what was released before its handler began has not begun; today that is certain only of a first claim.',
    parts: ({ released, today, machine }) =>
      [...released].some(
        (name) => today.units[name]?.startsWith('compensat') === true && machine.units[name] === 'cancelled',
      ),
  },
]

const ALL = [...INTENDED, ...MENDED_LATER]

/** What the machine says according to today’s engine and the list of differences. */
export function expectedOf(moment: Moment): Side {
  return ALL.reduce((today, { expects }) => expects?.(today, moment) ?? today, moment.today)
}

/** Why the engines go separate ways now; undefined: they do not. */
export function partingAt(moment: Moment): string | undefined {
  return ALL.find(({ parts }) => parts?.(moment) === true)?.why
}
