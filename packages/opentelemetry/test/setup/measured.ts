import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import {
  createEngine,
  define,
  type Engine,
  type EngineOptions,
  PermanentError,
  unchecked,
} from '@belay/workflow'
import { migrate, postgres } from '@belay/workflow-postgres'
import { inject, onTestFinished } from 'vitest'

interface Order {
  /** Waits for a signal. */
  readonly waits?: true
  /** Its last step fails for good. */
  readonly fails?: true
  /** And then the refund fails for good. */
  readonly closed?: true
}

const PHOTOS = ['summer.png', 'customer-4711.png', 'winter.png']

export const order = define('order', { version: 3, input: unchecked<Order>() })
  .step('charge', {
    run: () => 'charge 7',
    compensate: {
      retry: false,
      run: ({ input }) => {
        if (input.closed) throw new PermanentError('refunds are closed until 06:00')
      },
    },
  })
  .step('reserve', {
    dependsOn: ['charge'],
    retry: { attempts: 3, initial: '20ms', max: '20ms', jitter: false },
    run: ({ attempt }) => {
      if (attempt === 1) throw new Error('the warehouse is busy')
    },
  })
  .map('resize', {
    dependsOn: ['reserve'],
    over: () => PHOTOS,
    itemKey: (photo) => photo,
    run: ({ item }) => item.length,
  })
  .waitForSignal('shipped', {
    dependsOn: ['resize'],
    when: ({ input }) => input.waits === true,
    timeout: '7d',
  })
  .step('close', {
    dependsOn: ['shipped'],
    onSkipped: 'run',
    run: ({ input }) => {
      if (input.fails) throw new PermanentError('the books are closed')
    },
  })

/** A store of its own on the server of the tests, or behind `url`. */
export async function store(
  url = inject('serverUrl'),
): Promise<(options?: Partial<EngineOptions>) => Engine> {
  const schema = `otel_${randomBytes(5).toString('hex')}`
  await migrate(inject('serverUrl'), { schema })
  return (options = {}) => {
    // An engine closes its adapter with itself.
    const adapter = postgres(url, { schema, autoMigrate: false, connectionsMax: 5 })
    const engine = createEngine({ adapter, logger: false, tick: '50ms', ...options })
    onTestFinished(() => engine.close({ timeout: 0 }))
    return engine
  }
}

/**
 * A worker that has completed two orders, one of which waited for a signal, has undone one, and has parked the undo of one. It prints a label, and another
 * one waits for the printer. `watch` is called before it starts.
 */
export async function worked(watch: (engine: Engine) => void): Promise<Engine> {
  let print = () => {}
  const printed = new Promise<void>((resolve) => {
    print = resolve
  })
  onTestFinished(() => print())
  const label = define('label', { version: 1 }).step('print', {
    concurrency: { limit: 1, name: 'printer' },
    run: () => printed,
  })
  const engine = (await store())({ workflows: [order, label], concurrency: 7 })
  const begun = new Promise<void>((resolve) => {
    engine.on('step.started', ({ step }) => {
      if (step === 'print') resolve()
    })
  })
  watch(engine)
  await engine.start()
  const ends = [
    engine.run(order, {}),
    engine.run(order, { fails: true }),
    engine.run(order, { fails: true, closed: true }),
  ]
  await Promise.allSettled((await Promise.all(ends)).map((run) => run.result()))
  const waiting = await engine.run(order, { waits: true })
  for await (const change of waiting.watch()) {
    if (change.type === 'run' && change.status === 'waiting') break
  }
  await waiting.signal('shipped')
  await waiting.result()
  await engine.schedules.put('nightly', { every: '1d', workflow: order, input: {} })
  await engine.run(label, undefined)
  await begun
  await engine.run(label, undefined)
  return engine
}

/** Whether a program is on this machine. */
export async function isInstalled(program: string): Promise<boolean> {
  return promisify(execFile)(program, ['--version']).then(
    () => true,
    () => false,
  )
}
