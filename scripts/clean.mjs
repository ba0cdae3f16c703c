import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { at } from './root.mjs'

// What the build made, and its cache. Dependencies stay, and so does the data of the examples in .belay.
const packages = ['packages', 'tools'].flatMap((parent) =>
  readdirSync(at(parent)).map((name) => join(parent, name)),
)
for (const folder of [...packages, 'examples', 'bench']) {
  if (existsSync(at(folder, 'dist'))) rmSync(at(folder, 'dist'), { recursive: true })
}
rmSync(at('.turbo'), { recursive: true, force: true })
