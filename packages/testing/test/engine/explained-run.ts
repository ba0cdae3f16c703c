import { define, type Explanation } from '@belay/workflow'
import { expect } from 'vitest'

/** A run that waits for an item, a round, a child and a step at once, and its explanation. Tests on memory and on PostgreSQL use it. */
export function explainedRun() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const child = define('child', { version: 1 }).waitForSignal('go')
  const workflow = define('parent', { version: 1 })
    .map('send', {
      over: () => ['a', 'b', 'c'],
      itemKey: (item) => item,
      concurrency: 1,
      run: () => opened,
    })
    .repeat('page', { run: ({ round }) => round, until: () => false, delay: '1h' })
    .step('copy', {
      run: async ({ progress }) => {
        await progress(3, 10)
        return opened
      },
    })
    .workflow('ship', child, { input: () => null })
    .step('end', { dependsOn: ['send', 'page', 'ship'], run: () => 1 })
  return { workflow, child, open, explained: EXPLAINED }
}

const EXPLAINED = {
  copy: expect.stringContaining(', and has done 3 of 10.'),
  send: '"send" waits for "send[a]" (running), "send[b]" (pending) and "send[c]" (pending).',
  'send[a]': expect.stringMatching(/^"send\[a\]" has been running on worker ID since TIME\.$/),
  'send[b]': '"send[b]" waits for its turn: map "send" limits how many of its items are under way at a time.',
  'send[c]': '"send[c]" waits for its turn: map "send" limits how many of its items are under way at a time.',
  page: '"page" waits for "page[2]" (ready).',
  'page[2]': '"page[2]" begins at TIME.',
  ship: '"ship" waits for its child, run ID of "child" version 1, which is waiting.',
  end: '"end" waits for "page" (pending), "send" (pending) and "ship" (waiting).',
}

/** Sentences by step, without ids and instants. */
export function told({ steps }: Explanation): Record<string, string> {
  const plain = (sentence: string) =>
    sentence.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  return Object.fromEntries(steps.map(({ step, sentence }) => [step, plain(sentence)]))
}
