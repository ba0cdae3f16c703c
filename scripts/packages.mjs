import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { at } from './root.mjs'

/** The folders of the workspace that have a package.json, as in pnpm-workspace.yaml. */
export function workspaceFolders() {
  const nested = ['packages', 'tools'].flatMap((parent) =>
    readdirSync(at(parent)).map((name) => join(parent, name)),
  )
  return [...nested, 'bench', 'examples', 'examples/frameworks', 'playground']
    .filter((folder) => existsSync(at(folder, 'package.json')))
    .sort()
}
