A matrix of order two                                                   |key     
             3             1             1             1             0
RSA                        2             2             3             0
(3I3)           (3I3)           (3F4.1)
  1  3  4
  1  2  2
 2.0-1.5 3.0
