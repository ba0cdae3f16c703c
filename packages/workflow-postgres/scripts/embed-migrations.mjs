// Writes migrations/*.sql into a module, so that browsers and bundles need no file system to migrate.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const SOURCES = {
  migrations: {
    folder: new URL('../../../migrations/', import.meta.url),
    target: new URL('../src/migrate/migrations.generated.ts', import.meta.url),
  },
  // The tables of the new engine.
  baseline: {
    folder: new URL('../baseline/', import.meta.url),
    target: new URL('../src/tables/baseline.generated.ts', import.meta.url),
  },
}

/** @param {keyof typeof SOURCES} [name] */
export async function embeddedMigrations(name = 'migrations') {
  const { folder } = SOURCES[name]
  const journal = JSON.parse(await readFile(new URL('meta/_journal.json', folder), 'utf8'))
  const migrations = await Promise.all(
    journal.entries.map(async ({ tag }) => {
      const sql = await readFile(new URL(`${tag}.sql`, folder), 'utf8')
      return { tag, hash: createHash('sha256').update(sql).digest('hex'), sql }
    }),
  )
  const entries = migrations.map(
    ({ tag, hash, sql }) =>
      `  {\n    tag: '${tag}',\n    hash: '${hash}',\n    sql: \`${escapeTemplate(sql)}\`,\n  },\n`,
  )
  return `// Made by \`pnpm db:generate\` from the folder ${name}/. Don't edit.
export const ${name.toUpperCase()}: readonly { readonly tag: string; readonly hash: string; readonly sql: string }[] = [
${entries.join('')}]
`
}

function escapeTemplate(text) {
  return text.replaceAll(/[\\`]|\$\{/g, (special) => `\\${special}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, { target }] of Object.entries(SOURCES)) {
    await writeFile(target, await embeddedMigrations(/** @type {keyof typeof SOURCES} */ (name)))
  }
}
