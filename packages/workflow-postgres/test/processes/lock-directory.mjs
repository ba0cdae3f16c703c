// Locks a directory, says whether it could, and keeps the lock until its standard input ends.
import { lockDirectory } from '../../dist/pglite/directory-lock.js'

try {
  lockDirectory(process.argv[2])
  console.log(JSON.stringify('locked'))
} catch (error) {
  console.log(JSON.stringify(error.code))
}
process.stdin.resume().once('end', () => process.exit())
