import { within } from '../connection/within.ts'
import { MisshapenError, type TextClient } from './given-transaction.ts'

/** Transactions whose server or library has not answered in time, with the error that says so. A later statement would wait behind the earlier one. */
const silent = new WeakMap<object, Error>()

/**
 * A library's client, with a limit for each answer (milliseconds). After the first answer that did not come, every statement in the transaction fails at
 * once. `key` stands for the transaction.
 */
export function boundedClient(
  client: TextClient,
  key: object,
  limits: { readonly limitMs: number; readonly late: () => Error },
): TextClient {
  const answered = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    const before = silent.get(key)
    if (before !== undefined) throw before
    return within(limits.limitMs, ask(), () => {
      const error = limits.late()
      silent.set(key, error)
      return error
    })
  }
  const bounded: TextClient = {
    query: (text, values) => answered(async () => client.query(text, values)),
    script: (text) => answered(async () => client.script(text)),
  }
  if (client.savepoint === undefined) return bounded
  return {
    ...bounded,
    async savepoint<Result>(work: (client: TextClient) => Promise<Result>) {
      const [begun, worked] = [gate(), gate()]
      let done: { readonly result: Result } | undefined
      const whole = (async () =>
        client.savepoint!(async (inner) => {
          begun.open()
          try {
            done = { result: await work(boundedClient(inner, key, limits)) }
          } finally {
            worked.open()
          }
        }))()
      whole.catch(ignore)
      // The library sets the savepoint, and rolls back to it, with statements of its own.
      await answered(() => Promise.race([begun.opened, whole]))
      await Promise.race([worked.opened, whole])
      await answered(() => whole)
      if (done === undefined) throw new MisshapenError('has a savepoint() that did not call its function')
      return done.result
    },
  }
}

function gate() {
  let open = ignore
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

function ignore() {}
