import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** A folder with a `belay.config.ts` that makes these definitions: `[define('order', { version: 4 })]`. Removed when the test has finished. */
export async function configFolder(definitions: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-config-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const library = relative(folder, fileURLToPath(new URL('../../../workflow/src/index.ts', import.meta.url)))
  const shop = relative(folder, fileURLToPath(new URL('fulfil-order.ts', import.meta.url)))
  await writeFile(
    join(folder, 'belay.config.ts'),
    `import { define } from ${JSON.stringify(library)}\nimport { fulfil } from ${JSON.stringify(shop)}\nexport default { workflows: ${definitions} }\n`,
  )
  return folder
}
