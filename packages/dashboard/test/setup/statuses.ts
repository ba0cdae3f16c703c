import { define, PermanentError } from '@belay/workflow'

/** A promise that somebody else resolves. */
function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** What the handlers wait for. */
export const gates = { run: gate(), undo: gate(), drain: gate() }

const fail = () => {
  throw new PermanentError('secret 4711')
}

export const STATUSES = {
  running: define('running', { version: 1 }).step('work', { run: () => gates.run.opened }),
  waiting: define('waiting', { version: 1 })
    .sleep('nap', { for: '1ms' })
    .waitForSignal('go', { dependsOn: ['nap'] }),
  parked: define('parked', { version: 1 })
    .step('pay', { pivot: true, run: () => 1 })
    .step('mail', { dependsOn: ['pay'], retry: false, run: fail }),
  compensating: define('compensating', { version: 1 })
    .step('pay', { run: () => 1, compensate: () => gates.undo.opened })
    .step('ship', { dependsOn: ['pay'], retry: false, run: fail }),
  draining: define('draining', { version: 1 })
    .step('slow', { run: () => gates.drain.opened })
    .step('ship', { retry: false, run: fail }),
  retrying: define('retrying', { version: 1 }).step('call', {
    retry: { attempts: 5, initial: '1h', max: '1h' },
    run: () => {
      throw new Error('secret 4712')
    },
  }),
  failed: define('failed', { version: 1 }).step('ship', { retry: false, run: fail }),
  undone: define('undone', { version: 1 }).map('each', {
    over: () => [1, 2, 3],
    retry: false,
    run: ({ item }) => (item === 3 ? fail() : item),
    compensate: () => {},
  }),
  completed: define('completed', { version: 1 })
    .map('each', { over: () => Array.from({ length: 450 }, (_, n) => n), run: () => 1 })
    .step('last', { dependsOn: ['each'], run: () => 2 }),
}
