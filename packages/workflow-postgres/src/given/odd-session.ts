import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { NEEDED_VALUES, setValues, VALUES } from '../connection/value-settings.ts'

const readValues: Statement<{ readonly values: string }> = {
  name: 'read_value_settings',
  text: `select ${VALUES} as values`,
}

const changeValues: Statement<object> = {
  name: 'change_value_settings',
  text: `select ${setValues('$1')}`,
}

/** A caller's transaction in an odd session: sets what values depend on around each of Belay's statements, and restores it for the caller's. */
export function evenly(over: Connection): Connection {
  const even = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    const [had] = await over.query(readValues, [])
    await over.query(changeValues, [NEEDED_VALUES])
    try {
      return await run()
    } finally {
      // In a transaction that has failed, its rollback restores them.
      await over.query(changeValues, [had!.values]).catch(() => {})
    }
  }
  return {
    ...over,
    query: (statement, values) => even(() => over.query(statement, values)),
    transaction: (work) => even(() => over.transaction(work)),
  }
}
