// Writes migrations/*.sql into a module, so that browsers and bundles need no file system to migrate.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const FOLDER = new URL('../../../migrations/', import.meta.url)
const TARGET = new URL('../src/migrate/migrations.generated.ts', import.meta.url)

export async function embeddedMigrations() {
  const journal = JSON.parse(await readFile(new URL('meta/_journal.json', FOLDER), 'utf8'))
  const migrations = await Promise.all(
    journal.entries.map(async ({ tag }) => {
      const sql = await readFile(new URL(`${tag}.sql`, FOLDER), 'utf8')
      return { tag, hash: createHash('sha256').update(sql).digest('hex'), sql }
    }),
  )
  const entries = migrations.map(
    ({ tag, hash, sql }) =>
      `  {\n    tag: '${tag}',\n    hash: '${hash}',\n    sql: \`${escapeTemplate(sql)}\`,\n  },\n`,
  )
  return `// Made by \`pnpm db:generate\` from the folder migrations/. Don't edit.
export const MIGRATIONS: readonly { readonly tag: string; readonly hash: string; readonly sql: string }[] = [
${entries.join('')}]
`
}

function escapeTemplate(text) {
  return text.replaceAll(/[\\`]|\$\{/g, (special) => `\\${special}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(TARGET, await embeddedMigrations())
