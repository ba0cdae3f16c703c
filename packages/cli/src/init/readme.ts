import type { StoreKind } from './package-files.ts'

export const compose = `services:
  postgres:
    image: postgres:18
    environment:
      POSTGRES_USER: belay
      POSTGRES_PASSWORD: belay
      POSTGRES_DB: belay
    ports: ['127.0.0.1:5432:5432']
    volumes: ['postgres:/var/lib/postgresql']
    healthcheck:
      test: pg_isready --username belay
      interval: 1s
      retries: 30
volumes:
  postgres:
`

const STEPS: Readonly<Record<StoreKind, string>> = {
  postgres: `\`\`\`sh
npm install
npm test
docker compose up --detach --wait   # or set DATABASE_URL
npx belay migrate
npm run worker
\`\`\`

In a second terminal:

\`\`\`sh
npm start               # an order is reserved, charged and shipped
npm start -- nowhere    # shipping fails: the order is refunded and released
npx belay list
\`\`\`

Stop the worker, start an order, and start the worker again: the order has waited, and goes on.`,
  pglite: `\`\`\`sh
npm install
npm test
npm start               # an order is reserved, charged and shipped
npm start -- nowhere    # shipping fails: the order is refunded and released
npx belay list
\`\`\`

PostgreSQL runs in the process, and keeps its data in \`data/\`. Only one process at a time can open it: let the program end before
you call \`npx belay\`. For several processes use PostgreSQL.`,
}

const FILES: Readonly<Record<StoreKind, string>> = {
  postgres: `- \`src/worker.ts\` executes steps. Start as many as you like, on any machines.
- \`src/start.ts\` starts an order and waits for it.`,
  pglite: '- `src/main.ts` starts an order and executes its steps.',
}

/** `README.md`, with the next commands. */
export function readme(name: string, store: StoreKind): string {
  return `# ${name}

A durable workflow with automatic rollback, made by \`belay init\`.

${STEPS[store]}

- \`src/order.ts\` is the workflow: reserve, charge, ship.
${FILES[store]}
- \`test/order.test.ts\` runs it without a database and without waiting.
- \`belay.config.ts\` tells \`npx belay\` where the store is. \`npx belay --help\` has all verbs.
`
}
