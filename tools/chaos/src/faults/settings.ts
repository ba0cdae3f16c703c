import { pause, untilDone } from '../pause.ts'
import type { Stage } from '../supervisor/stage.ts'
import type { Fault } from './fault.ts'

/** What administrators, applications and poolers leave behind. Sessions that begin meanwhile keep it. */
const SETTINGS = [
  { name: 'default_transaction_read_only', value: 'on', weight: 10 },
  { name: 'default_transaction_isolation', value: 'serializable', weight: 2 },
  { name: 'default_transaction_deferrable', value: 'on', weight: 1 },
  { name: 'array_nulls', value: 'off', weight: 5 },
  { name: 'extra_float_digits', value: '-12', weight: 2 },
  { name: 'search_path', value: 'elsewhere, public, pg_catalog', weight: 2 },
  { name: 'standard_conforming_strings', value: 'off', weight: 1 },
  { name: 'DateStyle', value: 'German, DMY', weight: 1 },
  { name: 'IntervalStyle', value: 'sql_standard', weight: 1 },
  { name: 'TimeZone', value: 'Asia/Kathmandu', weight: 2 },
  { name: 'client_encoding', value: 'LATIN1', weight: 1 },
  { name: 'quote_all_identifiers', value: 'on', weight: 1 },
  { name: 'bytea_output', value: 'escape', weight: 1 },
  { name: 'xmloption', value: 'document', weight: 1 },
  { name: 'row_security', value: 'off', weight: 1 },
  { name: 'plan_cache_mode', value: 'force_custom_plan', weight: 1 },
] as const

const HELD_MS_MIN = 1_500
const HELD_MS_MAX = 6_000

/**
 * A setting of the database, of its role or of the server is changed for some seconds, and the workers open new connections meanwhile. Afterwards their
 * connections must work as before, whatever they were given: a step that fails for it fails a run that should not.
 */
export const changeSetting: Fault = {
  name: 'setting changed',
  class: 'settings',
  weight: 3,
  isAlone: true,
  async strike(stage) {
    const { random, database, fleet } = stage
    const { name, value } = random.weighted(SETTINGS)
    const level = random.pick(await levels(stage))
    const ms = random.between(HELD_MS_MIN, HELD_MS_MAX)
    const list = value.split(', ').map((part) => `'${part}'`)
    try {
      await change(stage, level, `set ${name} = ${name === 'search_path' ? list.join(', ') : `'${value}'`}`)
      const names = fleet.workers.map(({ child }) => child?.name)
      const half = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = any ($1) and random() < 0.5`
      await database.query(half, [names])
      await pause(ms / 2)
      await database.query(half, [names])
      await pause(ms / 2)
    } finally {
      await untilDone(() => change(stage, level, `reset ${name}`))
    }
    return { what: `${name} = ${value}, by ${level}, for ${ms} ms` }
  },
}

async function levels({ database }: Stage): Promise<readonly string[]> {
  const { rows } = await database.query<{ database: string; role: string }>(
    'select quote_ident(current_database()) as database, quote_ident(current_user) as role',
  )
  const { database: name, role } = rows[0]!
  return [`alter database ${name}`, `alter role ${role} in database ${name}`, 'alter system']
}

async function change({ database }: Stage, level: string, what: string): Promise<void> {
  await database.query(`${level} ${what}`)
  if (level === 'alter system') await database.query('select pg_reload_conf()')
}
