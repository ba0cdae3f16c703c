import type { Statement } from '../connection/statement.ts'

/** The caller's `lock_timeout`. No locks. */
export const readLockTimeout: Statement<{ readonly lock_timeout: string }> = {
  name: 'read_lock_timeout',
  text: `select current_setting('lock_timeout') as lock_timeout`,
}

/** Sets it until the transaction ends. No locks. */
export const setLockTimeout: Statement<{ readonly lock_timeout: string }> = {
  name: 'set_lock_timeout',
  text: `select set_config('lock_timeout', $1::text, true) as lock_timeout`,
}
