import { appendFile, chown, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'

/** What a copy of a running server's files leaves out. Its log comes over the connection. */
const LEFT_OUT = new Set([
  'postmaster.pid',
  'postmaster.opts',
  'pg_wal',
  'pg_replslot',
  'pg_stat_tmp',
  'standby.signal',
  'backup_label.old',
])

/**
 * Copies the files of a running server, as `pg_basebackup` would, which npm's packages lack, and makes the copy a standby.
 *
 * @param {{ url: string, port: number, major: number, from: string, to: string, user: import('./user.mjs').User | null }} parts
 */
export async function copyAsStandby({ url, port, major, from, to, user }) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const [begin, end] =
    major >= 15
      ? ["pg_backup_start('standby', true)", 'pg_backup_stop(false)']
      : ["pg_start_backup('standby', true, false)", 'pg_stop_backup(false, false)']
  try {
    await client.query(`select ${begin}`)
    await copyTree(from, to, user, (path) => !LEFT_OUT.has(path))
    for (const folder of [
      'pg_wal',
      'pg_wal/archive_status',
      'pg_wal/summaries',
      'pg_replslot',
      'pg_stat_tmp',
    ])
      await makeFolder(join(to, folder), user)
    const { rows } = await client.query(`select labelfile from ${end}`)
    await writeOwn(join(to, 'backup_label'), rows[0].labelfile, user)
    await writeOwn(join(to, 'standby.signal'), '', user)
    // Where it can be changed while the standby runs. The last line counts.
    const primary = `\nprimary_conninfo = 'host=127.0.0.1 port=${port} user=postgres'\n`
    await appendFile(join(to, 'postgresql.auto.conf'), primary)
  } finally {
    await client.end()
  }
}

/** Files may vanish meanwhile: those of temporary tables, and old ones that a checkpoint removes. */
async function copyTree(from, to, user, isWanted, within = '') {
  await makeFolder(to, user)
  const entries = await readdir(join(from, within), { withFileTypes: true }).catch(unlessGone)
  for (const entry of entries ?? []) {
    const path = within === '' ? entry.name : `${within}/${entry.name}`
    if (!isWanted(path)) continue
    if (entry.isDirectory()) {
      await makeFolder(join(to, path), user)
      await copyTree(from, to, user, isWanted, path)
    } else {
      const copied = await copyFile(join(from, path), join(to, path)).then(() => true, unlessGone)
      if (copied && user !== null) await chown(join(to, path), user.uid, user.gid)
    }
  }
}

async function makeFolder(path, user) {
  await mkdir(path, { recursive: true, mode: 0o700 })
  if (user !== null) await chown(path, user.uid, user.gid)
}

async function writeOwn(path, text, user) {
  await writeFile(path, text, { mode: 0o600 })
  if (user !== null) await chown(path, user.uid, user.gid)
}

function unlessGone(error) {
  if (error.code !== 'ENOENT') throw error
}
