"""How something is measured: settings, random states, timers, jobs with a progress bar."""
