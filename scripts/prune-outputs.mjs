import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { workspaceFolders } from './packages.mjs'
import { at } from './root.mjs'

const OUTPUT = /(\.d\.ts|\.js)(\.map)?$/

/** Deletes what the compiler made of sources that are gone: it never does so itself, and the rest would be tested and published for ever. */
export function pruneOutputs() {
  for (const folder of workspaceFolders()) {
    // There a bundler's page stands, which it makes anew each time.
    if (folder === 'playground') continue
    const dist = at(folder, 'dist')
    if (!existsSync(dist)) continue
    for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
      const source = file.replace(OUTPUT, '.ts')
      if (source !== file && !existsSync(at(folder, 'src', source))) rmSync(join(dist, file))
    }
  }
}
