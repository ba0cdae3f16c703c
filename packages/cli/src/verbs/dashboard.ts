import { refused } from '../cli-error.ts'

/** `belay dashboard`. */
export async function run(): Promise<never> {
  throw refused('There is no dashboard yet. Until then:', 'list', 'watch --all', 'doctor')
}
