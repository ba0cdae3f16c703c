import { BelayError } from '@belay/workflow/adapter'
import type { Connection } from './connection.ts'

/** A connection that throws `engine_closed` once it is closed, whatever the driver would throw. */
export function openUntil(isClosed: () => boolean, connection: Connection): Connection {
  const whileOpen = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    if (!isClosed()) return run()
    throw closedError()
  }
  const { session } = connection
  return {
    query: (statement, values) => whileOpen(() => connection.query(statement, values)),
    script: (text) => whileOpen(() => connection.script(text)),
    transaction: (work) => whileOpen(() => connection.transaction(work)),
    ...(session === undefined ? {} : { session: (work) => whileOpen(() => session(work)) }),
  }
}

export function closedError(): BelayError {
  return new BelayError('engine_closed', 'This adapter is closed.', { remedy: 'Create another one.' })
}
