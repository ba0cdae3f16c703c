import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

const readValues: Statement<{ readonly nulls: string; readonly digits: string }> = {
  name: 'read_value_settings',
  text: `select pg_catalog.current_setting('array_nulls') as nulls, pg_catalog.current_setting('extra_float_digits') as digits`,
}

const setValues: Statement<object> = {
  name: 'set_value_settings',
  text: `select pg_catalog.set_config('array_nulls', $1::text, true), pg_catalog.set_config('extra_float_digits', $2::text, true)`,
}

/** A caller's transaction in an odd session: sets what values depend on around each of Belay's statements, and restores it for the caller's. */
export function evenly(over: Connection): Connection {
  const even = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    const [had] = await over.query(readValues, [])
    await over.query(setValues, ['on', '1'])
    try {
      return await run()
    } finally {
      // In a transaction that has failed, its rollback restores them.
      await over.query(setValues, [had!.nulls, had!.digits]).catch(() => {})
    }
  }
  return {
    ...over,
    query: (statement, values) => even(() => over.query(statement, values)),
    transaction: (work) => even(() => over.transaction(work)),
  }
}
