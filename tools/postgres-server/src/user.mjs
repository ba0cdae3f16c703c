import { readFile } from 'node:fs/promises'

/** @typedef {{ uid: number, gid: number }} User */

/**
 * The user to run PostgreSQL as, because it refuses root. Null if this process may run it itself.
 *
 * @returns {Promise<User | null>}
 */
export async function unprivilegedUser() {
  if (process.platform === 'win32' || process.getuid?.() !== 0) return null
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const wanted of ['postgres', 'nobody']) {
    const user = users.find(([name]) => name === wanted)
    if (user !== undefined) return { uid: Number(user[2]), gid: Number(user[3]) }
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and /etc/passwd has neither the user "postgres" nor "nobody". Add one, or set DATABASE_URL.',
  )
}
