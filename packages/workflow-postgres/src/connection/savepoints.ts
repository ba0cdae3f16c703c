import type { Connection } from './connection.ts'

/** Makes a connection that is already one transaction run each `transaction()` under a savepoint. */
export function withSavepoints(over: Pick<Connection, 'query' | 'script'>): Connection {
  const own: Connection = {
    ...over,
    async transaction(work) {
      await over.script('savepoint belay')
      try {
        const result = await work({ ...own, transaction: (nested) => nested(own) })
        await over.script('release savepoint belay')
        return result
      } catch (error) {
        // If this fails too, the connection is gone, and the error above says so.
        await over.script('rollback to savepoint belay').catch(() => {})
        throw error
      }
    },
  }
  return own
}
