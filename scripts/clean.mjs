import { rmSync } from 'node:fs'
import { workspaceFolders } from './packages.mjs'
import { at } from './root.mjs'

// What the build made, and its cache. Dependencies stay, and so does the data of the examples in .belay.
for (const folder of workspaceFolders()) {
  for (const output of ['dist', 'bundle']) rmSync(at(folder, output), { recursive: true, force: true })
}
for (const made of ['site/dist', 'site/api', 'examples/next/.next'])
  rmSync(at(made), { recursive: true, force: true })
rmSync(at('.turbo'), { recursive: true, force: true })
