import { gitignore, manifest, type StoreKind, tsconfig } from './package-files.ts'
import { config, orderTestTs, orderTs, plainConfig, programs } from './program-files.ts'
import { compose, readme } from './readme.ts'

export type { StoreKind } from './package-files.ts'

/** What `belay init` writes. */
export interface Made {
  readonly isProject: boolean
  /** The package.json that was there and is written anew, with what it had. */
  readonly completed?: 'package.json'
  /** Texts by their paths in the folder. */
  readonly files: ReadonlyMap<string, string>
  /** Commands that lead on. */
  readonly next: readonly string[]
}

/** Only a config, for a folder that has a package.json. */
export function madeConfig(store: StoreKind): Made {
  return {
    isProject: false,
    files: new Map([['belay.config.ts', plainConfig(store)]]),
    next: ['belay migrate --dry-run'],
  }
}

/** A project that runs. `present` is the text of a package.json that has only Belay: its versions stay. */
export function madeProject(name: string, store: StoreKind, present?: string): Made {
  const files = new Map([
    ['package.json', manifest(name, store, present)],
    ['tsconfig.json', tsconfig],
    ['.gitignore', gitignore(store)],
    ['README.md', readme(name, store)],
    ...(store === 'postgres' ? [['compose.yaml', compose] as const] : []),
    ['belay.config.ts', config(store)],
    ['src/order.ts', orderTs],
    ...programs(name, store),
    ['test/order.test.ts', orderTestTs],
  ])
  const start =
    store === 'postgres'
      ? [
          'docker compose up --detach --wait',
          'npx belay migrate',
          'npm run worker',
          'npm start   # in a second terminal',
        ]
      : ['npm start']
  const completed = present === undefined ? {} : ({ completed: 'package.json' } as const)
  return { isProject: true, ...completed, files, next: ['npm install', 'npm test', ...start] }
}
