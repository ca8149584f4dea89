"""Foreign code in the private part: silent, in the same state each time, and nothing is paid.

A model that is scored, a selector or a function that is run on blocks::

    foreign_code.py   ForeignCode(run, name)         packed once; asked about each row or block
    known_code.py         is_known? -> run here      of this library or scikit-learn, walked through
    fork_server.py        else      -> a process     forked anew for each row or block
    calls.py          AskedModel, Choosing, ...      what is asked, and how the answer is read

Nothing is imported here: the process that is forked imports little.
"""
