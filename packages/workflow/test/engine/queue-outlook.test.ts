import { expect, it } from 'vitest'
import { nextQueueState, type QueueEvent, type QueueState } from '../../src/engine/worker/queue-outlook.ts'

const NEXT: Readonly<Record<QueueState, Readonly<Record<QueueEvent, QueueState>>>> = {
  empty: { hint: 'likely', claim: 'asked', 'found none': 'empty', 'left some': 'likely' },
  asked: { hint: 'likely', claim: 'asked', 'found none': 'empty', 'left some': 'likely' },
  likely: { hint: 'likely', claim: 'asked', 'found none': 'likely', 'left some': 'likely' },
}

const transitions = Object.entries(NEXT).flatMap(([state, next]) =>
  Object.entries(next).map(([event, to]) => [state, event, to] as [QueueState, QueueEvent, QueueState]),
)

it.each(transitions)('%s, then %s: %s', (state, event, to) => {
  expect(nextQueueState(state, event)).toBe(to)
})

it('a hint that comes during a claim outlasts a claim that finds nothing', () => {
  const events: readonly QueueEvent[] = ['claim', 'hint', 'found none']

  expect(events.reduce(nextQueueState, 'empty')).toBe('likely')
})

it('only a claim that finds nothing makes the queue known to be empty', () => {
  const ways = transitions.filter(([from, , to]) => to === 'empty' && from !== 'empty')

  expect(ways).toEqual([['asked', 'found none', 'empty']])
})
