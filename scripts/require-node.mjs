// Imported before anything else by each command, and by Node versions of any age: nothing newer than 2020 here or in what it imports.
import { nodeProblem } from './node-version.mjs'

const problem = nodeProblem(process.versions.node)
if (problem !== null) {
  console.error(problem)
  process.exit(1)
}
