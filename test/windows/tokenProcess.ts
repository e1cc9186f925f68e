import { runTokenCommand } from '../../src/core/api/credentials.ts';

/** Prints what a token command prints. Arguments: the command. */
process.stdout.write(await runTokenCommand(process.argv.slice(2)));
